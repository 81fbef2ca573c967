// Pairwise: in step t every rank sends to the rank t after it that one's block, and takes its own from the rank t
// before.
//
// Thakur, Rabenseifner, Gropp 2005.
// Cost: (P-1)(α + nβ + nγ), n bytes a block. After the last arrival at most the same: a rank waits for it in the step
// where the two meet, and has reduced what came before.
// For long blocks of operations that do not commute: contributions come to the one that finishes a block in falling
// order of ranks, around the end, so that it reduces those below and those above it apart, both in their order.

#include <utility>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce_scatter {

Task pairwise(Group& g, Call call) {
  const int p = g.size();
  const int me = g.rank();
  const Block mine = block_of(call, me);
  const std::size_t n = bytes(call, mine);
  Scratch memory = g.scratch(3 * n);
  std::byte* up_to_me = memory.data();
  std::byte* above_me = up_to_me + n;
  std::byte* theirs = above_me + n;
  g.copy(up_to_me, call.input + offset(call, mine), n);
  for (int step = 1; step < p; ++step) {
    const int to = (me + step) % p;
    const int from = (me + p - step) % p;
    const Block out = block_of(call, to);
    co_await exchange(g, call.input + offset(call, out), bytes(call, out), to, theirs, n, from);
    if (from == p - 1) {  // the first of those above
      std::swap(above_me, theirs);
    } else {
      g.reduce(call, theirs, from < me ? up_to_me : above_me, mine.count);
    }
  }
  const bool any_above = me + 1 < p;
  if (any_above) g.reduce(call, up_to_me, above_me, mine.count);
  g.copy(call.output, any_above ? above_me : up_to_me, n);
}

using namespace letters;

extern constinit const Description pairwise_described{
    .collective = Collective::reduce_scatter_block,
    .with_lengths = Collective::reduce_scatter,
    .name = "pairwise",
    .run = &pairwise,
    .summary = "everybody takes its own block from one rank after the other",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = both((P - 1) * pairs(n) + P * n * gamma + 2 * n * kappa),
};

}  // namespace stretto::reduce_scatter
