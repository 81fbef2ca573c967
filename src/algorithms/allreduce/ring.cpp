// Ring: partial sums travel once around the ring, block by block, then the finished blocks do.
//
// Patarasuk, Yuan 2009; Alizadeh 2021, Figure 2.3.
// Cost: 2(P-1) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival.
// For large messages on few ranks, with neighbours close to each other. Commutative operations only: block b starts
// its sum at rank b, or at position b where it goes around in another order (see prereduced_ring).

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/exchange.hpp"
#include "algorithms/patterns/line.hpp"

namespace stretto::allreduce {

Task ring(Group& g, Call call) {
  const int p = g.size();
  const Line around(g, call);
  const int me = around.position();
  const int right = around.successor();
  const int left = around.predecessor();
  const auto block = [&](int index) {
    return even_block(call.count, static_cast<std::size_t>(p), static_cast<std::size_t>((index % p + p) % p));
  };
  Scratch memory = g.scratch(bytes(call, block(0)));
  std::byte* theirs = memory.data();
  g.copy(call.output, call.input, call.bytes());

  // Computation phase: after step t I hold the sum of t+2 ranks for block me-t-1; at last block me+1 is finished.
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(me - step);
    const Block in = block(me - step - 1);
    co_await exchange(g, call.output + offset(call, out), bytes(call, out), right, theirs, bytes(call, in), left);
    g.reduce(call, theirs, call.output + offset(call, in), in.count);
  }
  // Distribution phase.
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(me + 1 - step);
    const Block in = block(me - step);
    co_await exchange(g, call.output + offset(call, out), bytes(call, out), right, call.output + offset(call, in),
                      bytes(call, in), left);
  }
}

}  // namespace stretto::allreduce
