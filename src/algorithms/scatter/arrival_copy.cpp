// Arrival copy: the root leaves every rank's block in shared memory and goes on; each rank takes its own when it comes.
//
// The shared-memory broadcast of Alizadeh 2021, section 4.3, with a block for each rank. Nobody waits for anybody but
// the root. Cost: P copies of n bytes, n bytes a block, one after the other in the root; the last rank takes its block
// while the root takes its own, so that pieces of blocks would gain nothing. After the last arrival, if that is not the
// root: one copy. Up to 96 bytes travel in the signal's own cache line, up to 32 KiB in the slot of whose block it is,
// more in the pool: twice the copies of a library that reads the root's memory, for a root that need not stay.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/others.hpp"
#include "arrival/board.hpp"

namespace stretto::scatter {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  if (g.rank() != call.root) {
    co_await g.reached(board.slot(g.rank()).filled, board.call());
    g.copy(call.output, board.block_data(g.rank(), n), n);
    co_return;
  }
  for (int rank : others(g, call)) {
    g.copy(board.block_data(rank, n), call.input + offset(call, block_of(call, rank)), n);
    g.publish(board.slot(rank).filled, board.call());
  }
  take_own_block(g, call);
}

}  // namespace stretto::scatter
