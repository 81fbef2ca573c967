// Arrival copy: everybody leaves its block in shared memory and goes; the root takes the blocks in the order of
// arrival.
//
// A rank announces itself when its block is there, so the root never waits for one while another's is ready. Cost: one
// copy of n bytes in each rank, n bytes a block, then P - 1 in the root, which copies its own meanwhile. After the last
// arrival: two copies; P if that is the root. Up to 96 bytes travel in a cache line, up to 32 KiB in the rank's slot,
// more in the pool: twice the copies of a library that reads the ranks' memory, for ranks that need not stay.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/arrived_blocks.hpp"
#include "algorithms/patterns/blocks.hpp"

namespace stretto::gather {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  if (g.rank() != call.root) {
    g.copy(board.block_data(g.rank(), n), call.input, n);
    board.arrive(g);
    co_return;
  }
  board.arrive(g);
  put_own_block(g, call);
  const auto take = [&](int rank) {
    g.copy(call.output + offset(call, block_of(call, rank)), board.block_data(rank, n), n);
  };
  Task others = as_they_arrive(g, take);
  co_await others;
}

}  // namespace stretto::gather
