// Sorted linear tree: segments are reduced along the chain of ranks from the earliest to the latest, and the results
// stream back along it.
//
// SLT of Proficz 2018, as Alizadeh 2021, section 5.2, describes it. That paper is not at hand: how the two ways overlap
// (algorithms/parts/linear_tree.hpp) and the number of segments are ours.
// While a rank waits for its successor it takes in all that its predecessor has. So when the last rank comes, all other
// data are reduced and wait in front of it, and the chain carries nothing but results.
// Cost, m segments: balanced (2P + m) (α + 2nβ/m) + nγ; after the last arrival P (α + nβ/m) + 2nβ + nγ/m, as the last
// rank but one sends both its partials and the results. m = √(Pnβ/α).
// For long messages on ranks that come far apart, in an order that is known. Where they come together it loses against
// the ring, which shares the reductions out. Commutative operations only: the order of summation is the prediction's.

#include "algorithms/parts/linear_tree.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task sorted_linear_tree(Group& g, Call call) { return linear_tree(g, call, Results::back); }

using namespace letters;

extern constinit const Description sorted_linear_tree_described{
    .collective = Collective::allreduce,
    .name = "sorted_linear_tree",
    .run = &sorted_linear_tree,
    .needs = {.commutative = true},
    .order = OrderUse::everywhere,
    .sums = Sums::as_they_come,
    .summary = "segments along the chain from the first to the last, results back",
    .source = "Proficz 2018",
    .cost = {.balanced = (2 * P + m) * (alpha + 2 * n * beta / m) + n * gamma,
             .after_last = P * (alpha + n * beta / m) + 2 * n * beta},
};

}  // namespace stretto::allreduce
