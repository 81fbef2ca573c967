// Arrival ordered: the root sends to whoever has announced itself; those who announced together become a sub-tree with
// one of them as its root.
//
// Patarasuk, Yuan 2008 (arrival_b and arrival_nb), as Alizadeh 2021, section 4.2, and Proficz 2020, section 2.2,
// describe them. That paper is not at hand: the notices, the shapes of the sub-trees and how the root shares its time
// are ours: algorithms/bcast/served_trees.hpp. Every rank but the root announces itself.
// - `arrival_ordered`, for blocking messages: the whole message at once, down binomial sub-trees.
// - `arrival_ordered_nonblocking`: in segments down binary ones.
// Cost, k ranks at once: 2α + (1 + log2(k)) (α + nβ), in m segments 2α + (2m + 2 log2(k)) (α + nβ/m). Who comes alone
// to an idle root has everything after 3α + nβ, in segments after 2α + m (α + nβ/m). Nobody waits for a later rank. But
// each sub-tree takes n bytes from the root, so that ranks a little apart wait for those before them.
// For long messages and arrivals that nobody knows ahead. Not for short ones: the announcement and the notice take
// longer than the message.

#include <bit>

#include "algorithms/bcast/served_trees.hpp"
#include "algorithms/parts/segments.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {
namespace {

Task broadcast(Group& g, Call call, std::size_t segments) {
  if (call.count == 0) co_return;
  if (g.rank() != call.root) {
    Task announced = take_place_in_tree(g, call, segments, g.send(nullptr, 0, call.root, kNotices));
    co_await announced;
    co_return;
  }
  Announcements announcements;
  TaskGroup all;
  hear_announcements(g, announcements, all);
  all.spawn(serve_in_trees(g, call, segments, announcements, static_cast<std::size_t>(g.size()) - 1));
  co_await all.join();
}

}  // namespace

Task arrival_ordered(Group& g, Call call) { return broadcast(g, call, 1); }

Task arrival_ordered_nonblocking(Group& g, Call call) {
  return broadcast(g, call, pipeline_segments(g, call, std::bit_width(static_cast<unsigned>(g.size()))));
}

using namespace letters;

extern constinit const Description arrival_ordered_described{
    .collective = Collective::bcast,
    .name = "arrival_ordered",
    .run = &arrival_ordered,
    .serves_announced = ServesAnnounced::whole_messages,
    .summary = "those who have announced themselves, round by round",
    .source = "Patarasuk, Yuan 2008",
    .cost = {.balanced = log(P) * (alpha + n * beta), .after_last = 3 * alpha + n * beta, .waiting = 1 / P},
    .variants =
        {
            {.name = "arrival_ordered_nonblocking",
             .run = &arrival_ordered_nonblocking,
             .serves_announced = ServesAnnounced::segments,
             .summary = "the same in segments, newcomers are served between them",
             .balanced = (m + 2 * log(P)) * (alpha + 2 * n * beta / m),
             .after_last = 2 * alpha + m * (alpha + n * beta / m)},
        },
};

}  // namespace stretto::bcast
