// Arrival stripes: one shared accumulator in chunks; each rank adds its data when it comes, and all finish together.
//
// Ours, for large messages in shared memory. See patterns/stripes.hpp.
// Cost: balanced, P nγ and P copies of n, shared by all cores; after the last arrival nγ (shared by all ranks where
// single copy is permitted) and P copies of n: the bound of shared memory, since P private results must be written.
// Commutative operations only; the order of summation is the order of arrival, each element is finished once.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/stripes.hpp"

namespace stretto::allreduce {

Task arrival_stripes(Group& g, Call call) {
  Stripes stripes(g, call);
  co_await stripes.contribute(/*copy_finished=*/true);
  co_await stripes.collect();
  g.board().synchronised_by_arrival();
}

}  // namespace stretto::allreduce
