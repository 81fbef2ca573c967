// Linear: the root sends every rank its block, one after the other.
//
// Proficz 2020, section 4.1. `linear` (LIN) serves the ranks by number; `sorted_linear` (SLIN, Fig. 5) those first that
// are expected first; `background_sorted_linear` (BSLN, Fig. 6) lets the others receive before they arrive, so that
// a late rank does not hold up the root.
// Cost: (P-1)(α + nβ), n bytes a block (eq. 3). With rank 1 alone late by D: D more (eq. 9); sorted max(D + α + nβ,
// cost) (eq. 10); in the background max(D, cost) (eq. 11). Nothing helps against a late root (eq. 12).

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "algorithms/scatter/receive_block.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {

Task linear(Group& g, Call call) {
  if (g.rank() == call.root) {
    co_await g.caller(call);
    for (int rank : peers_of_root(g, call)) {
      const Block theirs = block_of(call, rank);
      co_await g.send(call.input + offset(call, theirs), bytes(call, theirs), rank);
    }
    take_own_block(g, call);
    co_return;
  }
  co_await receive_block(g, call);
}

using namespace letters;

extern constinit const Description linear_described{
    .collective = Collective::scatter,
    .with_lengths = Collective::scatterv,
    .name = "linear",
    .run = &linear,
    .summary = "the root sends to one rank after the other",
    .source = "Proficz 2020",
    .cost = {.balanced = any(0) + (P - 1) * n * beta + w * (P - 2) * any(0),
             .after_last = w * P * any(n) / 2 + (1 - w) * (any(0) + N * beta) / P},
    .variants =
        {
            {.name = "sorted_linear",
             .order = OrderUse::root_only,
             .summary = "linear, those first that are expected first",
             .after_last = alpha + n * beta},
            {.name = "background_sorted_linear",
             .order = OrderUse::root_only,
             .ahead = true,
             .summary = "sorted linear, received before a rank arrives",
             .after_last = n * kappa},
        },
};

}  // namespace stretto::scatter
