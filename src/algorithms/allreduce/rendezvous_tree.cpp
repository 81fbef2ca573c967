// Rendezvous tree: partial results meet as they come, at one rank's word; the whole comes back along a binomial tree.
//
// Ours; see reduce/rendezvous_tree.cpp. Calls and their segments meet at different ranks, which share the load.
// Cost: two or three atomics, α + nβ + nγ and log2(P) (α + nβ) after the last arrival. Commutative operations only.

#include "algorithms/algorithms.hpp"
#include "core/remote_words.hpp"

namespace stretto::allreduce {

Task rendezvous_tree(Group& g, Call call) {
  call.root = static_cast<int>(RemoteWords::index_of(call.number)) % g.size();
  co_await reduce::rendezvous_tree(g, call);
  co_await bcast::binomial(g, call);
}

}  // namespace stretto::allreduce
