// Linear: the root takes every rank's block, one after the other.
//
// Proficz 2020, section 3 (LIN). Cost: (P-1)(α + nβ), n bytes a block (eqs. 3 and 4). A late rank holds up all whose
// number is higher.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {

Task linear(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.send(call.input, call.bytes(), call.root);
    co_return;
  }
  put_own_block(g, call);
  for (int rank : peers_of_root(g, call)) {
    const Block theirs = block_of(call, rank);
    co_await g.recv(call.output + offset(call, theirs), bytes(call, theirs), rank);
  }
}

using namespace letters;

extern constinit const Description linear_described{
    .collective = Collective::gather,
    .with_lengths = Collective::gatherv,
    .name = "linear",
    .run = &linear,
    .summary = "the root takes from one rank after the other",
    .source = "Proficz 2020",
    .cost = {.balanced = any(0) + (P - 1) * n * beta + w * (P - 2) * any(0), .after_last = any(n) + w * P * any(n) / 2},
};

}  // namespace stretto::gather
