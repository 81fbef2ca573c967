// Arrival stripes: one shared accumulator in chunks; each rank adds its data when it comes, and all finish together.
//
// Ours, for large messages in shared memory. See board/stripes.hpp.
// Cost: balanced, P nγ and P copies of n, shared by all cores; after the last arrival nγ (shared by all ranks where
// single copy is permitted) and P copies of n: the bound of shared memory, since P private results must be written.
// Commutative operations only; the order of summation is the order of arrival, each element is finished once.

#include "board/stripes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task arrival_stripes(Group& g, Call call) {
  Stripes stripes(g, call);
  co_await stripes.contribute(/*copy_finished=*/true);
  co_await stripes.collect();
  g.board().synchronised_by_arrival();
}

using namespace letters;

extern constinit const Description arrival_stripes_described{
    .collective = Collective::allreduce,
    .name = "arrival_stripes",
    .run = &arrival_stripes,
    .needs = {.memory = Memory::pool, .commutative = true},
    .sums = Sums::as_they_come,
    .summary = "each adds its chunks as it comes, all share the last one's",
    .source = "Stretto",
    .cost = {.balanced = n * gamma + P * n * kappa, .after_last = n * gamma / P + P * n * kappa},
};

}  // namespace stretto::allreduce
