// Rendezvous tree: partial results meet as they come, at one rank's word; the whole comes back along a binomial tree.
//
// Ours; see reduce/rendezvous_tree.cpp. Calls and their segments meet at different ranks, which share the load.
// Cost: two or three atomics, α + nβ + nγ and log2(P) (α + nβ) after the last arrival. Commutative operations only.

#include "core/algorithm.hpp"
#include "core/group.hpp"
#include "core/remote_words.hpp"

namespace stretto::reduce {
Task rendezvous_tree(Group& g, Call call);
}
namespace stretto::bcast {
Task binomial(Group& g, Call call);
}

namespace stretto::allreduce {

Task rendezvous_tree(Group& g, Call call) {
  call.root = static_cast<int>(RemoteWords::index_of(call.number)) % g.size();
  co_await reduce::rendezvous_tree(g, call);
  co_await bcast::binomial(g, call);
}

using namespace letters;

extern constinit const Description rendezvous_tree_described{
    .collective = Collective::allreduce,
    .name = "rendezvous_tree",
    .run = &rendezvous_tree,
    .needs = {.commutative = true, .words = true},
    .sums = Sums::as_they_come,
    .summary = "partial results meet as they come, by one-sided atomics, then a broadcast",
    .source = "Stretto",
    .cost = {.balanced = 2 * log(P) * (alpha + n * beta) + log(P) * n * gamma,
             .after_last = (1 + log(P)) * (alpha + n * beta) + n * gamma},
};

}  // namespace stretto::allreduce
