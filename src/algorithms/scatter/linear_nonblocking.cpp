// Linear, everything at once: the root starts the messages to all ranks, whoever is there takes its own.
//
// What MPI_Isend to everybody gives, and so the yardstick of whatever sorts or predicts.
// `background_linear_nonblocking` lets the others receive before they arrive.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap. After the last arrival, if that is not the root: α + nβ,
// in the background a copy. A late rank delays nobody; but all messages share the root's port, so the early ranks'
// blocks wait for each other.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "algorithms/scatter/receive_block.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {

Task linear_nonblocking(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await receive_block(g, call);
    co_return;
  }
  co_await g.caller(call);
  std::vector<Transfer> sends;
  sends.reserve(static_cast<std::size_t>(g.size()));  // transfers stay where they are while under way
  for (int rank : peers_of_root(g, call)) {
    const Block theirs = block_of(call, rank);
    sends.push_back(g.send(call.input + offset(call, theirs), bytes(call, theirs), rank));
    sends.back().start();
  }
  take_own_block(g, call);
  for (Transfer& send : sends) co_await send;
}

using namespace letters;

extern constinit const Description linear_nonblocking_described{
    .collective = Collective::scatter,
    .with_lengths = Collective::scatterv,
    .name = "linear_nonblocking",
    .run = &linear_nonblocking,
    .summary = "the root sends to all ranks at once",
    .source = "Stretto",
    .cost = {.balanced = any(0) + one_by_one,
             .after_last = w * any(n) + (any(0) + one_by_one) / P,
             .mean = any(0) * (P - 1 + w) / P + one_by_one / 2,
             .waiting = 1 / P},
    .variants =
        {
            {.name = "background_linear_nonblocking",
             .ahead = true,
             .summary = "all at once, received before a rank arrives",
             .after_last = n * kappa},
        },
};

}  // namespace stretto::scatter
