// Recursive doubling: in round t every rank exchanges the blocks it has with the rank 2^t away.
//
// Thakur, Rabenseifner, Gropp 2005. Ranks beyond a power of two give their block to a neighbour, from which they get
// all blocks in the end. Cost: log2(P) α + (P-1) nβ, n bytes a block, for a power of two; others (log2(P) + 2) α +
// about 2P nβ. After the last arrival the same: every round needs its block sooner or later. For short blocks, and for
// middle ones on a power of two. Blocks that do not lie side by side in the order of ranks (allgatherv, segments of a
// pipeline) are copied once more.

#include "algorithms/parts/fold.hpp"
#include "algorithms/parts/halving.hpp"
#include "algorithms/parts/packed_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task recursive_doubling(Group& g, Call call) {
  const PackedBlocks places(g, call);
  const bool direct = places.are_those_of(call);
  Call all = call;
  all.count = places.all().count;
  Scratch memory = g.scratch(direct ? 0 : all.bytes());
  std::byte* blocks = direct ? call.output : memory.data();
  const auto place = [&](int rank) { return blocks + offset(call, places.run(rank, 1)); };
  const auto length = [&](int rank) { return bytes(call, places.run(rank, 1)); };
  const int me = g.rank();
  g.copy(place(me), call.input, length(me));

  const Fold fold(g);
  if (!fold.active()) {
    co_await g.send(place(me), length(me), me + 1);
  } else {
    if (me < 2 * fold.extra) co_await g.recv(place(me - 1), length(me - 1), me - 1);
    const auto run = [&](int first, int participants) {
      const int from = fold.lowest_rank_of(first);
      return places.run(from, fold.lowest_rank_of(first + participants) - from);
    };
    const auto rank_of = [&](int participant) { return fold.rank_of(participant); };
    Task doubling = gather_by_doubling(g, call, blocks, {fold.number, fold.power}, run, rank_of);
    co_await doubling;
  }
  co_await fold_out(g, fold, all, blocks);
  if (!direct) places.copy_out(g, call, blocks);
}

using namespace letters;

extern constinit const Description recursive_doubling_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "recursive_doubling",
    .run = &recursive_doubling,
    .summary = "exchange of all there is with the rank 2^t away, log P rounds",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    // Of messages to fold there are none, the long one, whose latency may be hidden, or both.
    .cost = both(growing(N) + e * ((3 - e) * beside(N) + (e - 1) * beside(n)) / 2 + n * kappa),
};

}  // namespace stretto::allgather
