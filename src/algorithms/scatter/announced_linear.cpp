// Announced linear: a rank that arrives tells the root, and the root serves one after the other whoever has announced
// itself.
//
// Acts on what has happened, without knowing anything ahead: the other yardstick of prediction.
// Cost: α + (P-1)(α + nβ), of which the announcement is hidden if the root comes later. After the last arrival, if that
// is not the root and the others have been served: 2α + nβ.

#include <deque>

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/others.hpp"

namespace stretto::scatter {
namespace {

struct Announced {
  std::deque<int> ranks;  // not served yet
  Signal count;           // of all so far
};

Task hear_from(Group& g, int rank, Announced& announced) {
  co_await g.recv(nullptr, 0, rank);
  announced.ranks.push_back(rank);
  g.publish(announced.count, announced.count.value.load(std::memory_order_relaxed) + 1);
}

Task serve_all(Group& g, Call call, Announced& announced) {
  for (int served = 0; served < g.size() - 1; ++served) {
    co_await g.reached(announced.count, static_cast<std::uint64_t>(served) + 1);
    const int rank = announced.ranks.front();
    announced.ranks.pop_front();
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
  const Block mine = block_of(call, call.root);
  g.copy(call.output, call.input + offset(call, mine), bytes(call, mine));
  Announced announced;
  TaskGroup all;
  for (int rank : others(g, call)) all.spawn(hear_from(g, rank, announced));
  all.spawn(serve_all(g, call, announced));
  co_await all.join();
}

}  // namespace stretto::scatter
