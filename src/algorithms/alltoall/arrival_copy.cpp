// Arrival copy: everybody leaves its blocks in shared memory, and takes its own of the others' in the order of arrival.
//
// Qian, Afsahi 2011, who write to those that have arrived; through shared memory a rank is done with its own blocks
// before anybody else has come. Cost: P copies of n bytes, n bytes a block, then P - 1. After the last arrival: both in
// that rank, one copy in each other. Up to 96 bytes of all a rank's blocks travel in a cache line, up to 32 KiB in the
// rank's slot, more in the pool.

#include "algorithms/parts/blocks.hpp"
#include "board/arrived_blocks.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::alltoall {

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  const int p = g.size();
  const std::size_t n = call.bytes();
  const auto left_by = [&](int rank, int to) {
    return board.block_data(rank, n * static_cast<std::size_t>(p)) + n * static_cast<std::size_t>(to);
  };
  for (int rank = 0; rank < p; ++rank) {
    g.copy(left_by(g.rank(), rank), call.input + offset(call, block_of(call, rank)), n);
  }
  board.arrive(g);
  const auto take = [&](int rank, std::size_t = 0) {
    g.copy(call.output + offset(call, output_block_of(call, rank)), left_by(rank, g.rank()), n);
  };
  take(g.rank());
  Task copies = as_they_arrive(g, take);
  co_await copies;
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::alltoall,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .in_nodes = InNodes::in_teams,
    .summary = "blocks are left in shared memory and taken as they come",
    .source = "Qian, Afsahi 2011",
    .cost = both(2 * N * kappa),
};

}  // namespace stretto::alltoall
