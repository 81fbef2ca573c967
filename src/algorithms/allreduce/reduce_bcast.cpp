// Reduce to rank 0, then broadcast, both along a binomial tree.
//
// Alizadeh 2021, section 2.2.4 ("binomial tree allreduce").
// Cost: 2 log2(P) (α + nβ) + log2(P) nγ. The baseline that everything else is compared with; keeps the order of ranks.

#include "algorithms/algorithms.hpp"

namespace stretto::allreduce {

Task reduce_bcast(Group& g, Call call) {
  call.root = 0;
  co_await reduce::binomial(g, call);
  co_await bcast::binomial(g, call);
}

}  // namespace stretto::allreduce
