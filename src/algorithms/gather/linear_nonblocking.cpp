// Linear, everything at once: the root is ready for the messages of all ranks, whoever is there sends its own.
//
// What MPI_Irecv from everybody gives, and so the yardstick of whatever sorts or predicts.
// `background_linear_nonblocking` is ready before the root arrives: what MPI_Irecv gives a program that posts it early.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap. After the last arrival, if that is not the root and the
// others' blocks are in: α + nβ. If that is the root: (P-1) nβ, in the background the copies out of the memory in which
// early blocks are kept.

#include "algorithms/gather/early_blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {

Task linear_nonblocking(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.caller(call);
    co_await g.send(call.input, call.bytes(), call.root);
    co_return;
  }
  const std::vector<int> ranks = peers_of_root(g, call);
  EarlyBlocks blocks(g, call);
  std::vector<Transfer> receives;
  receives.reserve(ranks.size());  // transfers stay where they are while under way
  for (int rank : ranks) {
    receives.push_back(g.recv(blocks.place(rank), bytes(call, block_of(call, rank)), rank));
    receives.back().start();
  }
  co_await g.caller(call);
  put_own_block(g, call);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Transfer& receive = receives[i];
    co_await receive;
    blocks.move_in(ranks[i]);
  }
}

using namespace letters;

extern constinit const Description linear_nonblocking_described{
    .collective = Collective::gather,
    .with_lengths = Collective::gatherv,
    .name = "linear_nonblocking",
    .run = &linear_nonblocking,
    .summary = "the root takes from all ranks at once",
    .source = "Stretto",
    .cost = {.balanced = any(0) + one_by_one,
             .after_last = any(n) + w * N * beta / P,
             .mean = (any(0) + one_by_one) / P + w * (any(0) + (P - 1) * n * beta / 2),
             .waiting = 1 / P},
    .variants =
        {
            {.name = "background_linear_nonblocking",
             .ahead = true,
             .summary = "all at once, received before the root arrives"},
        },
};

}  // namespace stretto::gather
