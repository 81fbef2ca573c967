// Arrival stripes: each rank adds its data to a shared accumulator when it comes, and leaves at once; the root waits.
//
// Ours, for shared memory. See board/stripes.hpp.
// Cost: a rank's elapsed time is nγ, whoever else is late; the root's ends nγ + nβ after the last arrival.
// Commutative operations only; the order of summation is the order of arrival.

#include "board/stripes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {

Task arrival_stripes(Group& g, Call call) {
  Stripes stripes(g, call);
  const bool root = g.rank() == call.root;
  co_await stripes.contribute(/*copy_finished=*/root);
  if (root) co_await stripes.collect();
}

using namespace letters;

extern constinit const Description arrival_stripes_described{
    .collective = Collective::reduce,
    .name = "arrival_stripes",
    .run = &arrival_stripes,
    .needs = {.memory = Memory::pool, .commutative = true},
    .sums = Sums::as_they_come,
    .in_nodes = InNodes::in_stripes,
    .summary = "each adds its chunks as it comes, and leaves",
    .source = "Stretto",
    // Chunks are of 2 KiB or more, and ranks that come together wait for each other where there are fewer than ranks.
    .cost = {.balanced = max(n, min(n, 2048) * P) * gamma + n * kappa + P * lambda,
             .after_last = max(n / P, min(n, 2048)) * gamma + n * kappa + lambda},
};

}  // namespace stretto::reduce
