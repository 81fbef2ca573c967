// Arrival copy: everybody leaves its block in shared memory, and takes those of the others in the order of arrival.
//
// Qian, Afsahi 2011, who write to those that have arrived; through shared memory a block is written once for all, and
// nobody waits for one while another's is ready. Cost: a copy of n bytes, n bytes a block, then P - 1. After the last
// arrival: its block is copied in and out, and it takes those of all others. Up to 96 bytes travel in a cache line, up
// to 32 KiB in the rank's slot, more in the pool.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/arrived_blocks.hpp"
#include "algorithms/patterns/blocks.hpp"

namespace stretto::allgather {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  g.copy(board.block_data(g.rank(), n), call.input, n);
  board.arrive(g);
  put_own_block(g, call);
  const auto take = [&](int rank) {
    g.copy(call.output + offset(call, block_of(call, rank)), board.block_data(rank, n), n);
  };
  Task others = as_they_arrive(g, take);
  co_await others;
}

}  // namespace stretto::allgather
