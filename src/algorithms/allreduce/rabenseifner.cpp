// Rabenseifner: reduce-scatter by recursive halving, then allgather by recursive doubling.
//
// Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5; "RSA" in Alizadeh 2021.
// Cost: 2 log2(P) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival.
// For large messages and many ranks. Each element is finished by one rank and copied by the others. The first exchange,
// of half the data, is with the next rank, and the last, of the least, with the farthest: neighbours often share a
// node. Commutative operations only: the halving pairs ranks that are not neighbours.

#include "algorithms/parts/fold.hpp"
#include "algorithms/parts/halving.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task rabenseifner(Group& g, Call call) {
  Scratch memory = g.scratch(call.bytes());
  std::byte* theirs = memory.data();
  g.copy(call.output, call.input, call.bytes());

  const Fold fold(g);
  if (fold.extra > 0) co_await fold_in(g, fold, call, call.output, theirs);
  if (fold.active()) {
    const auto parts = static_cast<std::size_t>(fold.power);
    const auto run = [&](int first, int blocks) {
      return even_blocks(call.count, parts, static_cast<std::size_t>(first), static_cast<std::size_t>(blocks));
    };

    const auto rank_of = [&](int number) { return fold.rank_of(reversed_bits(number, fold.power)); };
    const Participant me{reversed_bits(fold.number, fold.power), fold.power};
    Task halving = reduce_by_halving(g, call, call.output, theirs, me, run, rank_of);
    co_await halving;
    Task doubling = gather_by_doubling(g, call, call.output, me, run, rank_of);
    co_await doubling;
  }
  if (fold.extra > 0) co_await fold_out(g, fold, call, call.output);
}

using namespace letters;

extern constinit const Description rabenseifner_described{
    .collective = Collective::allreduce,
    .name = "rabenseifner",
    .run = &rabenseifner,
    .needs = {.commutative = true},
    .map = "rabenseifner",
    .summary = "reduce-scatter by halving, allgather by doubling",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = both(2 * halving(n) + (P - 1) * n * gamma / P + e * (beside(n) + n * gamma / 2) + n * kappa),
};

}  // namespace stretto::allreduce
