// Recursive halving: in each round two ranks share between them the blocks they still have to reduce.
//
// Thakur, Rabenseifner, Gropp 2005; the first half of Rabenseifner 2004. Ranks beyond a power of two are folded in: two
// neighbours reduce as one.
// Cost: log2(P) α + (P-1) n (β + γ), n bytes a block, all of it after the last arrival; folding adds 2α + P nβ + P nγ.
// For short and middle blocks. Commutative operations only: the halving pairs ranks that are not neighbours. Needs
// memory for all blocks twice.

#include "algorithms/parts/fold.hpp"
#include "algorithms/parts/halving.hpp"
#include "algorithms/parts/packed_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce_scatter {

Task recursive_halving(Group& g, Call call) {
  const PackedBlocks places(g, call);
  Call all = call;
  all.count = places.all().count;
  Scratch memory = g.scratch(2 * all.bytes());
  std::byte* sums = memory.data();
  std::byte* theirs = sums + all.bytes();
  places.copy_in(g, call, sums);

  const int me = g.rank();
  const Fold fold(g);
  co_await fold_in(g, fold, all, sums, theirs);
  if (!fold.active()) {
    co_await g.recv(call.output, bytes(call, places.run(me, 1)), me + 1);
    co_return;
  }
  const auto run = [&](int first, int participants) {
    const int from = fold.lowest_rank_of(first);
    return places.run(from, fold.lowest_rank_of(first + participants) - from);
  };
  const auto rank_of = [&](int participant) { return fold.rank_of(participant); };
  Task halving = reduce_by_halving(g, call, sums, theirs, {fold.number, fold.power}, run, rank_of);
  co_await halving;
  if (me < 2 * fold.extra) {
    const Block neighbours = places.run(me - 1, 1);
    co_await g.send(sums + offset(call, neighbours), bytes(call, neighbours), me - 1);
  }
  const Block mine = places.run(me, 1);
  g.copy(call.output, sums + offset(call, mine), bytes(call, mine));
}

using namespace letters;

extern constinit const Description recursive_halving_described{
    .collective = Collective::reduce_scatter_block,
    .with_lengths = Collective::reduce_scatter,
    .name = "recursive_halving",
    .run = &recursive_halving,
    .needs = {.commutative = true},
    .summary = "two ranks share what they have to reduce, log P rounds",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    // Of messages to fold there are none, the long one, whose latency may be hidden, or both.
    .cost = both(growing(N) + (P - 1) * n * gamma + N * kappa +
                 e * ((3 - e) * (beside(N) + N * gamma) + (e - 1) * beside(n)) / 2),
};

}  // namespace stretto::reduce_scatter
