// Arrival ordered: the root sends to whoever has announced itself; those who announced together become a sub-tree with
// one of them as its root.
//
// Patarasuk, Yuan 2008 (arrival_b and arrival_nb), as Alizadeh 2021, section 4.2, and Proficz 2020, section 2.2,
// describe them. That paper is not at hand: the notices, the shapes of the sub-trees and how the root shares its time
// are ours. Every rank but the root announces itself, and is told by the root what its place is: its parent and its
// children.
// - `arrival_ordered`, for blocking messages: the root waits until somebody has announced itself, gives places in a
//   binomial sub-tree to all who have by then, sends its root the whole message, and looks again.
// - `arrival_ordered_nonblocking`: the message goes in segments down binary sub-trees. The root looks for new ranks
//   between segments and serves two sub-trees in turn; who comes meanwhile gathers for the next one.
// Cost, k ranks at once: 2α + (1 + log2(k)) (α + nβ), in m segments 2α + (2m + 2 log2(k)) (α + nβ/m). Who comes alone
// to an idle root has everything after 3α + nβ, in segments after 2α + m (α + nβ/m). Nobody waits for a later rank. But
// each sub-tree takes n bytes from the root, so that ranks a little apart wait for those before them.
// For long messages and arrivals that nobody knows ahead. Not for short ones: the announcement and the notice take
// longer than the message.

#include <bit>

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/announcements.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/segments.hpp"

namespace stretto::bcast {
namespace {

constexpr std::uint32_t kNotices = 0;  // streams
constexpr std::uint32_t kData = 1;     // and on, one a lane
constexpr std::size_t kLanes = 3;      // segments on their way to one rank: receiving one overlaps passing others on
constexpr std::size_t kUnderWay = 2;   // sub-trees that the root serves; each takes all n bytes from it

// What the root tells a rank before data flow.
struct Place {
  std::int32_t parent = -1;
  std::int32_t children = 0;
  std::int32_t child[31] = {};  // as many as the root of a binomial tree of 2^31 ranks has

  void add(int rank) { child[children++] = rank; }
};

std::uint32_t stream_of(std::size_t segment) { return kData + static_cast<std::uint32_t>(segment % kLanes); }

Task pass_on(Group& g, Call call, const Place& place, std::size_t segments, std::size_t lane) {
  for (std::size_t segment = lane; segment < segments; segment += kLanes) {
    const Call part = part_of(call, even_block(call.count, segments, segment));
    co_await g.recv(part.output, part.bytes(), place.parent, stream_of(segment));
    for (int i = 0; i < place.children; ++i)
      co_await g.send(part.output, part.bytes(), place.child[i], stream_of(segment));
  }
}

Task announce_and_receive(Group& g, Call call, std::size_t segments) {
  Transfer announcement = g.send(nullptr, 0, call.root, kNotices);
  announcement.start();
  Place place;
  co_await g.recv(reinterpret_cast<std::byte*>(&place), sizeof place, call.root, kNotices);
  TaskGroup lanes;
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes.spawn(pass_on(g, call, place, segments, lane));
  co_await lanes.join();
  co_await announcement;
}

// A sub-tree that the root serves.
struct SubTree {
  int root;
  std::size_t sent = 0;  // segments
};

Task give_places(Group& g, const std::vector<int>& ranks, bool binary) {
  std::vector<Place> places(ranks.size());
  places.front().parent = g.rank();
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const std::size_t parent = binary ? (i - 1) / 2 : i - std::bit_floor(i);
    places[i].parent = ranks[parent];
    places[parent].add(ranks[i]);
  }
  std::vector<Transfer> notices;
  notices.reserve(ranks.size());  // transfers stay where they are while under way
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    notices.push_back(g.send(reinterpret_cast<std::byte*>(&places[i]), sizeof(Place), ranks[i], kNotices));
    notices.back().start();
  }
  for (Transfer& notice : notices) co_await notice;
}

Task serve_all(Group& g, Call call, std::size_t segments, Announcements& announcements) {
  const std::size_t others = static_cast<std::size_t>(g.size()) - 1;
  const std::size_t window = segments > 1 ? kLanes : 1;  // a blocking message is through before the root looks again
  std::size_t placed = 0;
  std::deque<SubTree> under_way;
  std::deque<Transfer> sends;
  while (placed < others || !under_way.empty()) {
    if (under_way.empty()) co_await g.reached(announcements.heard, placed + 1);
    if (!announcements.waiting.empty() && under_way.size() < kUnderWay) {
      const std::vector<int> ranks(announcements.waiting.begin(), announcements.waiting.end());
      announcements.waiting.clear();
      placed += ranks.size();
      co_await give_places(g, ranks, /*binary=*/segments > 1);
      under_way.push_back({ranks.front()});
    }
    SubTree tree = under_way.front();
    under_way.pop_front();
    const Call part = part_of(call, even_block(call.count, segments, tree.sent));
    sends.push_back(g.send(part.output, part.bytes(), tree.root, stream_of(tree.sent)));
    sends.back().start();
    if (++tree.sent < segments) under_way.push_back(tree);
    while (sends.size() >= window) {
      Transfer& oldest = sends.front();
      co_await oldest;
      sends.pop_front();
    }
  }
  for (Transfer& send : sends) co_await send;
}

Task broadcast(Group& g, Call call, std::size_t segments) {
  if (call.count == 0) co_return;
  if (g.rank() != call.root) {
    co_await announce_and_receive(g, call, segments);
    co_return;
  }
  Announcements announcements;
  TaskGroup all;
  hear_announcements(g, announcements, all);
  all.spawn(serve_all(g, call, segments, announcements));
  co_await all.join();
}

}  // namespace

Task arrival_ordered(Group& g, Call call) { return broadcast(g, call, 1); }

Task arrival_ordered_nonblocking(Group& g, Call call) {
  return broadcast(g, call, pipeline_segments(g, call, std::bit_width(static_cast<unsigned>(g.size()))));
}

}  // namespace stretto::bcast
