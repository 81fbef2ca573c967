// Arrival stripes: each rank adds its data to a shared accumulator when it comes, and leaves at once; the root waits.
//
// Ours, for shared memory. See patterns/stripes.hpp.
// Cost: a rank's elapsed time is nγ, whoever else is late; the root's ends nγ + nβ after the last arrival.
// Commutative operations only; the order of summation is the order of arrival.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/stripes.hpp"

namespace stretto::reduce {

Task arrival_stripes(Group& g, Call call) {
  Stripes stripes(g, call);
  const bool root = g.rank() == call.root;
  co_await stripes.contribute(/*copy_finished=*/root);
  if (root) co_await stripes.collect();
}

}  // namespace stretto::reduce
