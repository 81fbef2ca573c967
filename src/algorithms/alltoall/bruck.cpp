// Bruck: blocks reach the rank d after them in as many hops as d has bits, each hop with all others that go as far.
//
// Bruck, Ho, Kipnis, Upfal, Weathersby 1997; Thakur, Rabenseifner, Gropp 2005.
// Cost: log2(P) (α + P/2 nβ), n bytes a block, and as many copies; after the last arrival the same.
// For short blocks on many ranks: they travel up to log2(P) times. Blocks of one length only.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::alltoall {

Task bruck(Group& g, Call call) {
  const int p = g.size();
  const int me = g.rank();
  const std::size_t n = call.bytes();
  const auto blocks_bytes = [&](int blocks) { return static_cast<std::size_t>(blocks) * n; };
  Scratch memory = g.scratch(blocks_bytes(p + 2 * (p / 2)));
  std::byte* blocks = memory.data();  // by the distance that they have to go, then by the one that they have gone
  std::byte* out = blocks + blocks_bytes(p);
  std::byte* in = out + blocks_bytes(p / 2);
  for (int distance = 0; distance < p; ++distance) {
    const Block theirs = block_of(call, (me + distance) % p);
    g.copy(blocks + blocks_bytes(distance), call.input + offset(call, theirs), n);
  }
  for (int hop = 1; hop < p; hop *= 2) {
    int packed = 0;
    for (int distance = hop; distance < p; ++distance) {
      if ((distance & hop) != 0) g.copy(out + blocks_bytes(packed++), blocks + blocks_bytes(distance), n);
    }
    co_await exchange(g, out, blocks_bytes(packed), (me + hop) % p, in, blocks_bytes(packed), (me + p - hop) % p);
    for (int distance = p - 1; distance >= hop; --distance) {
      if ((distance & hop) != 0) g.copy(blocks + blocks_bytes(distance), in + blocks_bytes(--packed), n);
    }
  }
  for (int distance = 0; distance < p; ++distance) {
    const Block theirs = output_block_of(call, (me + p - distance) % p);
    g.copy(call.output + offset(call, theirs), blocks + blocks_bytes(distance), n);
  }
}

using namespace letters;

extern constinit const Description bruck_described{
    .collective = Collective::alltoall,
    .name = "bruck",
    .run = &bruck,
    .summary = "blocks go in as many hops as their way has bits, many at a time",
    .source = "Bruck et al. 1997",
    .cost = both(doubling(N / 2) + e * any(N / 2) / 2 + (2 + log(P)) * N * kappa),
};

}  // namespace stretto::alltoall
