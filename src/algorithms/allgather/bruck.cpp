// Bruck: in round t every rank sends all the blocks it has to the rank 2^t before it.
//
// Bruck, Ho, Kipnis, Upfal, Weathersby 1997; Thakur, Rabenseifner, Gropp 2005. A rank has the blocks of the ranks that
// follow it, its own first; so any number of ranks is done after log2(P) rounds, rounded up.
// Cost: log2(P) α + (P-1) nβ, n bytes a block, and a copy of all blocks into the order of ranks. After the last arrival
// the same. For short blocks on any number of ranks.

#include "algorithms/parts/exchange.hpp"
#include "algorithms/parts/packed_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task bruck(Group& g, Call call) {
  const int p = g.size();
  const PackedBlocks places(g, call, g.rank());
  Scratch memory = g.scratch(bytes(call, places.all()));
  std::byte* blocks = memory.data();
  g.copy(blocks, call.input, bytes(call, places.run(0, 1)));
  for (int have = 1; have < p; have *= 2) {
    const int more = std::min(have, p - have);
    const Block out = places.run(0, more);
    const Block in = places.run(have, more);
    co_await exchange(g, blocks, bytes(call, out), (g.rank() + p - have) % p, blocks + offset(call, in),
                      bytes(call, in), (g.rank() + have) % p);
  }
  places.copy_out(g, call, blocks);
}

using namespace letters;

extern constinit const Description bruck_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "bruck",
    .run = &bruck,
    .summary = "all there is to the rank 2^t before, log P rounds for any P",
    .source = "Bruck et al. 1997",
    .cost = both(max(spreading(n) + (N - log(P) * n) * beta, growing(N)) + N * kappa),
};

}  // namespace stretto::allgather
