// Pairwise: in step t every rank sends to the rank t after it while it receives from the rank t before it.
//
// Thakur, Rabenseifner, Gropp 2005.
// Cost: (P-1)(α + nβ), n bytes a block. After the last arrival at most the same: each rank waits for it in the step
// where the two meet, and then for those that have waited.
// For long blocks: no port has more than one message a time. In place it keeps a copy of the input.

#include "algorithms/parts/direct_exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::alltoall {

Task pairwise(Group& g, Call call) {
  const KeptInput kept(g, call);
  copy_own_block(g, kept.call());
  for (int step = 1; step < g.size(); ++step) {
    Transfer sending = send_block(g, kept.call(), rank_after(g, step));
    sending.start();
    co_await receive_block_from(g, kept.call(), rank_before(g, step));
    co_await sending;
  }
}

using namespace letters;

extern constinit const Description pairwise_described{
    .collective = Collective::alltoall,
    .with_lengths = Collective::alltoallv,
    .name = "pairwise",
    .run = &pairwise,
    .summary = "in step t to the rank t after, from the rank t before",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = both((P - 1) * pairs(n) + n * kappa),
};

}  // namespace stretto::alltoall
