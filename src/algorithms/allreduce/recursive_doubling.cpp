// Recursive doubling: in round t every rank exchanges its partial result with the rank 2^t away.
//
// Thakur, Rabenseifner, Gropp 2005, section 4.5; Alizadeh 2021, Figure 2.4.
// Cost: log2(P) (α + nβ + nγ), balanced and after the last arrival alike, as every round needs the last rank's data
// sooner or later. Ranks beyond a power of two are folded in (two more steps).
// For small messages. Keeps the order of ranks, so it serves non-commutative operations, and both partners of a round
// compute "lower ranks op higher ranks": all results are equal bit for bit.

#include "algorithms/parts/exchange.hpp"
#include "algorithms/parts/fold.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task recursive_doubling(Group& g, Call call) {
  Scratch memory = g.scratch(call.bytes());
  std::byte* accumulator = call.output;
  std::byte* theirs = memory.data();
  g.copy(accumulator, call.input, call.bytes());

  const Fold fold(g);
  if (fold.extra > 0) co_await fold_in(g, fold, call, accumulator, theirs);
  if (fold.active()) {
    for (int distance = 1; distance < fold.power; distance *= 2) {
      const int partner = fold.rank_of(fold.number ^ distance);
      co_await exchange(g, accumulator, call.bytes(), partner, theirs, call.bytes(), partner);
      if (partner < g.rank()) {
        g.reduce(call, theirs, accumulator, call.count);
      } else {
        g.reduce(call, accumulator, theirs, call.count);
        std::swap(accumulator, theirs);
      }
    }
    g.copy(call.output, accumulator, call.bytes());
  }
  if (fold.extra > 0) co_await fold_out(g, fold, call, call.output);
}

using namespace letters;

extern constinit const Description recursive_doubling_described{
    .collective = Collective::allreduce,
    .name = "recursive_doubling",
    .run = &recursive_doubling,
    .map = "recursive_doubling",
    .summary = "exchange with the rank 2^t away, log P rounds",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = both(doubling(n) + e * beside(n) + log(P) * n * gamma + 2 * n * kappa),
};

}  // namespace stretto::allreduce
