// Arrival copy: the root leaves every rank's block in shared memory and goes on; each rank takes its own when it comes.
//
// The shared-memory broadcast of Alizadeh 2021, section 4.3, with a block for each rank. Nobody waits for anybody but
// the root. Cost: P copies of n bytes, n bytes a block, one after the other in the root; the last rank takes its block
// while the root takes its own, so that pieces of blocks would gain nothing. After the last arrival, if that is not the
// root: one copy. Up to 96 bytes travel in the signal's own cache line, up to 32 KiB in the slot of whose block it is,
// more in the pool: twice the copies of a library that reads the root's memory, for a root that need not stay.

#include <algorithm>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "board/board.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {

namespace {

void leave_for(Group& g, const Call& call, int rank) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  g.copy(board.block_data(rank, n), call.input + offset(call, block_of(call, rank)), n);
  board.publish_slot(g, rank, n);
}

void take(Group& g, const Call& call) {
  const std::size_t left = g.board().slot(g.rank()).bytes;
  if (!Board::can_take(g, left, call.bytes())) return;
  g.copy(call.output, g.board().block_data(g.rank(), left), std::min(left, call.bytes()));
}

}  // namespace

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  if (g.rank() != call.root) {
    co_await board.reached(g, board.slot(g.rank()).filled);
    take(g, call);
    co_return;
  }
  for (int rank : peers_of_root(g, call)) leave_for(g, call, rank);
  take_own_block(g, call);
}

bool arrival_copy_shortly(Group& g, const Call& call) {
  if (g.rank() != call.root) {
    if (!g.board().comes_soon(g, g.board().slot(g.rank()).filled)) return false;
    take(g, call);
    return true;
  }
  for (int rank = 0; rank < g.size(); ++rank) {
    if (rank != call.root) leave_for(g, call, rank);
  }
  take_own_block(g, call);
  return true;
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::scatter,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .shortly = {&arrival_copy_shortly, &arrival_copy},
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .summary = "the root leaves all blocks in shared memory and goes on",
    .source = "Stretto",
    .cost = {.balanced = N * kappa + lambda,
             .after_last = n * kappa + lambda,
             .mean = N * kappa / 2 + lambda,
             .waiting = 1 / P},
};

}  // namespace stretto::scatter
