// Rabenseifner: reduce-scatter by recursive halving, then allgather by recursive doubling.
//
// Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5; "RSA" in Alizadeh 2021.
// Cost: 2 log2(P) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival.
// For large messages and many ranks. Each element is finished by one rank and copied by the others. Commutative
// operations only: the halving pairs ranks that are not neighbours.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/exchange.hpp"
#include "algorithms/patterns/fold.hpp"

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

    // Halving: of the blocks `mine` starts at, keep the half that holds my own number, give the other away.
    int mine = 0;
    for (int half = fold.power / 2; half >= 1; half /= 2) {
      const int partner = fold.rank_of(fold.number ^ half);
      const bool upper = (fold.number & half) != 0;
      const Block keep = run(upper ? mine + half : mine, half);
      const Block give = run(upper ? mine : mine + half, half);
      co_await exchange(g, call.output + offset(call, give), bytes(call, give), partner, theirs, bytes(call, keep),
                        partner);
      g.reduce(call, theirs, call.output + offset(call, keep), keep.count);
      if (upper) mine += half;
    }

    // Doubling: the finished runs of blocks grow together again.
    for (int half = 1; half < fold.power; half *= 2) {
      const int partner = fold.rank_of(fold.number ^ half);
      const int first = fold.number & ~(half - 1);
      const Block have = run(first, half);
      const Block want = run(first ^ half, half);
      co_await exchange(g, call.output + offset(call, have), bytes(call, have), partner,
                        call.output + offset(call, want), bytes(call, want), partner);
    }
  }
  if (fold.extra > 0) co_await fold_out(g, fold, call, call.output);
}

}  // namespace stretto::allreduce
