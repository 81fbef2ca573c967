// Announced linear: a rank that arrives tells the root, and the root serves one after the other whoever has announced
// itself.
//
// Acts on what has happened, without knowing anything ahead: the other yardstick of prediction.
// Cost: α + (P-1)(α + nβ), of which the announcement is hidden if the root comes later. After the last arrival, if that
// is not the root and the others have been served: 2α + nβ.

#include "algorithms/parts/announcements.hpp"
#include "algorithms/parts/blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {
namespace {

Task serve_all(Group& g, Call call, Announcements& announcements) {
  for (int served = 0; served < g.size() - 1; ++served) {
    co_await g.reached(announcements.heard, static_cast<std::uint64_t>(served) + 1);
    const int rank = announcements.take();
    const Block theirs = block_of(call, rank);
    co_await g.send(call.input + offset(call, theirs), bytes(call, theirs), rank);
  }
}

}  // namespace

Task announced_linear(Group& g, Call call) {
  if (g.rank() != call.root) {
    Transfer announcement = g.send(nullptr, 0, call.root);
    announcement.start();
    co_await g.recv(call.output, call.bytes(), call.root);
    co_await announcement;
    co_return;
  }
  take_own_block(g, call);
  Announcements announcements;
  TaskGroup all;
  hear_announcements(g, announcements, all);
  all.spawn(serve_all(g, call, announcements));
  co_await all.join();
}

using namespace letters;

extern constinit const Description announced_linear_described{
    .collective = Collective::scatter,
    .with_lengths = Collective::scatterv,
    .name = "announced_linear",
    .run = &announced_linear,
    .summary = "ranks announce themselves, the root serves who is there",
    .source = "Stretto",
    .cost = {.balanced = P * alpha + N * beta, .after_last = 2 * alpha + n * beta},
};

}  // namespace stretto::scatter
