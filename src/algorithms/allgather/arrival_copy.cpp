// Arrival copy: everybody leaves its block in shared memory, and takes those of the others in the order of arrival.
//
// Qian, Afsahi 2011, who write to those that have arrived; through shared memory a block is written once for all, and
// nobody waits for one while another's is ready. Cost: a copy of n bytes, n bytes a block, then P - 1. After the last
// arrival: its block is copied in and out, and it takes those of all others. Up to 96 bytes travel in a cache line, up
// to 32 KiB in the rank's slot; in the pool, if one is longer.

#include "board/arrived_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  g.copy(board.block_data(g.rank(), call.bytes(), longest_bytes(g, call)), call.input, call.bytes());
  board.arrive(g, nullptr, call.bytes());
  Task taking = take_all_blocks(g, call);
  co_await taking;
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .summary = "blocks are left in shared memory and taken as they come",
    .source = "Qian, Afsahi 2011",
    .cost = both(N * kappa),
};

}  // namespace stretto::allgather
