// Reduce to rank 0, then broadcast, both along a binomial tree.
//
// Alizadeh 2021, section 2.2.4 ("binomial tree allreduce").
// Cost: 2 log2(P) (α + nβ) + log2(P) nγ. The baseline that everything else is compared with; keeps the order of ranks.

#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
Task binomial(Group& g, Call call);
}
namespace stretto::bcast {
Task binomial(Group& g, Call call);
}

namespace stretto::allreduce {

Task reduce_bcast(Group& g, Call call) {
  call.root = 0;
  co_await reduce::binomial(g, call);
  co_await bcast::binomial(g, call);
}

using namespace letters;

extern constinit const Description reduce_bcast_described{
    .collective = Collective::allreduce,
    .name = "reduce_bcast",
    .run = &reduce_bcast,
    .map = "binomial",
    .summary = "reduce to rank 0 and broadcast, both along a binomial tree",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = {.balanced = 2 * climbing(n) + log(P) * n * gamma + 2 * n * kappa,
             .after_last = from_last(n) + climbing(n) + log(P) * n * gamma + n * kappa},
};

}  // namespace stretto::allreduce
