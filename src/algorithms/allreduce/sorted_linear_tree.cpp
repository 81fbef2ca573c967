// Sorted linear tree: segments are reduced along the chain of ranks from the earliest to the latest, and the results
// stream back along it.
//
// SLT of Proficz 2018, as Alizadeh 2021, section 5.2, describes it. That paper is not at hand: how the two ways overlap
// (patterns/linear_tree.hpp) and the number of segments are ours.
// While a rank waits for its successor it takes in all that its predecessor has. So when the last rank comes, all other
// data are reduced and wait in front of it, and the chain carries nothing but results.
// Cost, m segments: balanced (2P + m) (α + 2nβ/m) + nγ; after the last arrival P (α + nβ/m) + 2nβ + nγ/m, as the last
// rank but one sends both its partials and the results. m = √(Pnβ/α).
// For long messages on ranks that come far apart, in an order that is known. Where they come together it loses against
// the ring, which shares the reductions out. Commutative operations only: the order of summation is the prediction's.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/linear_tree.hpp"

namespace stretto::allreduce {

Task sorted_linear_tree(Group& g, Call call) { return linear_tree(g, call, Results::back); }

}  // namespace stretto::allreduce
