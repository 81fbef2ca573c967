// Arrival copy: everybody leaves its block in shared memory and goes; the root takes the blocks in the order of
// arrival.
//
// A rank announces itself when its block is there, so the root never waits for one while another's is ready. Cost: one
// copy of n bytes in each rank, n bytes a block, then P - 1 in the root, which copies its own meanwhile. After the last
// arrival: two copies; P if that is the root. Up to 96 bytes travel in a cache line, up to 32 KiB in the rank's slot,
// more in the pool: twice the copies of a library that reads the ranks' memory, for ranks that need not stay.

#include "board/arrived_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  if (g.rank() != call.root) {
    g.copy(board.block_data(g.rank(), call.bytes()), call.input, call.bytes());
    board.arrive(g, nullptr, call.bytes());
    co_return;
  }
  board.arrive(g);
  Task taking = take_all_blocks(g, call);
  co_await taking;
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::gather,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .in_nodes = InNodes::in_pool,
    .summary = "ranks leave their blocks and go, the root takes what has come",
    .source = "Stretto",
    .cost = {.balanced = N * kappa + P * lambda,
             .after_last = 2 * n * kappa + lambda,
             .mean = 2 * n * kappa + lambda,
             .waiting = 1 / P},
};

}  // namespace stretto::gather
