// Blocks that go once around a ring: every rank passes one on while it takes the next.
#pragma once

#include <algorithm>
#include <utility>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/exchange.hpp"

namespace stretto {

/// This rank's place in the ring, and the ranks beside it.
struct RingPlace {
  int position;
  int left;
  int right;
};
inline RingPlace place_by_rank(const Group& g) {
  const int p = g.size();
  return {g.rank(), (g.rank() + p - 1) % p, (g.rank() + 1) % p};
}

/// Which of the call's blocks is the one with number `index`, of `parts`, on the ring.
using RingBlock = Block (*)(const Call& call, int parts, int index);
inline Block even_block_on_ring(const Call& call, int parts, int index) {
  return even_block(call.count, static_cast<std::size_t>(parts), static_cast<std::size_t>(index));
}
inline Block ranks_block_on_ring(const Call& call, int, int index) { return block_of(call, index); }

/// Partial sums of the input's blocks go around. This rank starts that of block `first`, a number that grows by one
/// from a position to the next, and has block `first` + 1 in the end, which goes to `result`. That may be in the input.
inline Task reduce_around(Group& g, const Call& call, RingPlace place, RingBlock block_at, int first,
                          std::byte* result) {
  const int p = g.size();
  const auto block = [&](int index) { return block_at(call, p, (index % p + p) % p); };
  std::size_t longest = 0;
  for (int index = 0; index < p; ++index) longest = std::max(longest, bytes(call, block(index)));
  Scratch memory = g.scratch(2 * longest);
  std::byte* received = memory.data();
  std::byte* spare = received + longest;

  const std::byte* partial = call.input + offset(call, block(first));
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(first - step);
    const Block in = block(first - step - 1);
    co_await exchange(g, partial, bytes(call, out), place.right, received, bytes(call, in), place.left);
    g.reduce(call, call.input + offset(call, in), received, in.count);
    partial = received;
    std::swap(received, spare);
  }
  g.copy(result, partial, bytes(call, block(first + 1)));
}

/// The output's blocks go around. This rank starts with block `first`, which is there.
inline Task gather_around(Group& g, const Call& call, RingPlace place, RingBlock block_at, int first) {
  const int p = g.size();
  const auto block = [&](int index) { return block_at(call, p, (index % p + p) % p); };
  for (int step = 0; step < p - 1; ++step) {
    const Block out = block(first - step);
    const Block in = block(first - step - 1);
    co_await exchange(g, call.output + offset(call, out), bytes(call, out), place.right, call.output + offset(call, in),
                      bytes(call, in), place.left);
  }
}

}  // namespace stretto
