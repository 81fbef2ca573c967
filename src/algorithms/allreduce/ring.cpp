// Ring: partial sums travel once around the ring, block by block, then the finished blocks do.
//
// Patarasuk, Yuan 2009; Alizadeh 2021, Figure 2.3.
// Cost: 2(P-1) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival.
// For large messages on few ranks, with neighbours close to each other. Commutative operations only: block b starts
// its sum at rank b.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/exchange.hpp"

namespace stretto::allreduce {

Task ring(Group& g, Call call) {
  const int p = g.size();
  const int right = (g.rank() + 1) % p;
  const int left = (g.rank() - 1 + p) % p;
  const auto block = [&](int index) {
    return even_block(call.count, static_cast<std::size_t>(p), static_cast<std::size_t>((index % p + p) % p));
  };
  Scratch memory = g.scratch(bytes(call, block(0)));
  std::byte* theirs = memory.data();
  g.copy(call.output, call.input, call.bytes());

  // Computation phase: after step t I hold the sum of t+2 ranks for block rank-t-1; at last block rank+1 is finished.
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(g.rank() - step);
    const Block in = block(g.rank() - step - 1);
    co_await exchange(g, call.output + offset(call, out), bytes(call, out), right, theirs, bytes(call, in), left);
    g.reduce(call, theirs, call.output + offset(call, in), in.count);
  }
  // Distribution phase.
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(g.rank() + 1 - step);
    const Block in = block(g.rank() - step);
    co_await exchange(g, call.output + offset(call, out), bytes(call, out), right, call.output + offset(call, in),
                      bytes(call, in), left);
  }
}

}  // namespace stretto::allreduce
