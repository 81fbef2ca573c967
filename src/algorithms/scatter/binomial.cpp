// Binomial tree: whoever holds blocks sends the half that belongs to a sub-tree to that sub-tree's root.
//
// Proficz 2020, section 4.1. `binomial` (BNOM) builds the tree by rank; `sorted_binomial` (SBN, Fig. 7) puts those that
// are expected first where blocks arrive first, so that the last is a leaf served in the last round;
// `background_sorted_binomial` (BSBN, Fig. 8) lets all but the root receive and pass on before they arrive.
// Cost: log2(P) α + (P-1) nβ, n bytes a block (eq. 7). With the first receiver alone late by D: D more (eq. 13); sorted
// max(D + α + nβ, cost) (eq. 14); in the background max(D, cost) (eq. 15). Nothing helps against a late root (eq. 16).
// The root copies its blocks into the order of the tree unless that is the order of ranks.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/sorted_tree.hpp"
#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {

Task binomial(Group& g, Call call) {
  const int p = g.size();
  const SortedTree tree(g, call, SortedTree::First::far_from_parent);
  const int me = tree.place();
  const int up = parent_distance(me, p);
  const auto blocks_bytes = [&](int blocks) { return static_cast<std::size_t>(blocks) * call.bytes(); };
  const int mine = tree.subtree(me, up);

  if (me == 0) co_await g.caller(call);
  const bool from_input = me == 0 && tree.is_in_rank_order();
  const bool to_output = me > 0 && mine == 1 && call.is_here();
  Scratch memory = g.scratch(from_input || to_output ? 0 : blocks_bytes(mine));
  std::byte* received = to_output ? call.output : memory.data();
  const std::byte* blocks = from_input ? call.input : received;  // of my sub-tree, my own first
  if (me > 0) {
    co_await g.recv(received, blocks_bytes(mine), tree.rank_at(me - up));
  } else if (!from_input) {
    for (int place = 0; place < p; ++place) {
      const Block theirs = block_of(call, tree.rank_at(place));
      g.copy(received + blocks_bytes(place), call.input + offset(call, theirs), call.bytes());
    }
  }
  for (int distance = up / 2; distance >= 1; distance /= 2) {
    if (me + distance >= p) continue;
    const int theirs = tree.subtree(me + distance, distance);
    co_await g.send(blocks + blocks_bytes(distance), blocks_bytes(theirs), tree.rank_at(me + distance));
  }
  co_await g.caller(call);
  g.copy(call.output, blocks, call.bytes());
}

using namespace letters;

extern constinit const Description binomial_described{
    .collective = Collective::scatter,
    .name = "binomial",
    .run = &binomial,
    .summary = "halves travel down a binomial tree",
    .source = "Proficz 2020",
    .cost = {.balanced = climbing(0) + (P - 1) * n * beta + n * kappa,
             .after_last = past_last(n),
             .mean = midway(0) + (P - 1) * n * beta * (3 + w) / 4 + n * kappa,
             .waiting = d / P},
    .variants =
        {
            {.name = "sorted_binomial",
             .order = OrderUse::everywhere,
             .summary = "binomial, those that are expected first near the top",
             .after_last = alpha + n * beta},
            {.name = "background_sorted_binomial",
             .order = OrderUse::everywhere,
             .ahead = true,
             .summary = "sorted binomial, passed on before a rank arrives",
             .after_last = n * kappa},
        },
};

}  // namespace stretto::scatter
