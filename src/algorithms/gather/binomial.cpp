// Binomial tree: blocks climb towards the root, every inner node sending those of its whole sub-tree at once.
//
// Proficz 2020, section 4.2. `binomial` (BNOM) builds the tree by rank; `sorted_binomial` (SBN, Fig. 11) puts those
// that are expected first where blocks are sent first; `background_sorted_binomial` (BSBN, Fig. 12) lets inner nodes
// receive before they arrive. Cost: log2(P) α + (P-1) nβ, n bytes a block (eq. 7). With the root's last child alone
// late by D: D more, sorted or not (eq. 21); in the background max(D + α + P/2 nβ, cost) (eq. 22, whose (P-1)/2 blocks
// are half a block less than that sub-tree has). With a late root: D more (eq. 23); in the background max(D, cost) (eq.
// 24). The root copies the blocks from the order of the tree into that of ranks unless they are the same.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/sorted_tree.hpp"
#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {

Task binomial(Group& g, Call call) {
  const int p = g.size();
  const SortedTree tree(g, call, SortedTree::First::near_parent);
  const int me = tree.place();
  const int up = parent_distance(me, p);
  const auto blocks_bytes = [&](int blocks) { return static_cast<std::size_t>(blocks) * call.bytes(); };
  const int mine = tree.subtree(me, up);
  const bool leaf = mine == 1 && me > 0;

  const bool to_output = me == 0 && tree.is_in_rank_order() && call.is_here();
  Scratch memory = g.scratch(to_output || leaf ? 0 : blocks_bytes(mine));
  std::byte* blocks = to_output ? call.output : memory.data();  // of my sub-tree, my own first
  for (int distance = 1; distance < up && me + distance < p; distance *= 2) {
    const int theirs = tree.subtree(me + distance, distance);
    co_await g.recv(blocks + blocks_bytes(distance), blocks_bytes(theirs), tree.rank_at(me + distance));
  }
  co_await g.caller(call);
  if (leaf) {
    co_await g.send(call.input, call.bytes(), tree.rank_at(me - up));
    co_return;
  }
  g.copy(blocks, call.input, call.bytes());
  if (me > 0) {
    co_await g.send(blocks, blocks_bytes(mine), tree.rank_at(me - up));
  } else if (!to_output) {
    for (int place = 0; place < p; ++place) {
      const Block theirs = block_of(call, tree.rank_at(place));
      g.copy(call.output + offset(call, theirs), blocks + blocks_bytes(place), call.bytes());
    }
  }
}

using namespace letters;

extern constinit const Description binomial_described{
    .collective = Collective::gather,
    .name = "binomial",
    .run = &binomial,
    .summary = "blocks climb a binomial tree",
    .source = "Proficz 2020",
    .cost = {.balanced = climbing(0) + (P - 1) * n * beta + n * kappa,
             .after_last = from_last(0) + N * beta / 2,
             .mean = under(0) + n * kappa + log(P) * n * beta / 2 + w * any(n),
             .waiting = d / P},
    .variants =
        {
            {.name = "sorted_binomial",
             .order = OrderUse::everywhere,
             .summary = "binomial, those that are expected first send first"},
            {.name = "background_sorted_binomial",
             .order = OrderUse::everywhere,
             .ahead = true,
             .summary = "sorted binomial, received before a rank arrives",
             .after_last = alpha + N * beta / 2},
        },
};

}  // namespace stretto::gather
