// What ranks have left in shared memory, in the order in which they came.
#pragma once

#include <algorithm>

#include "algorithms/parts/blocks.hpp"
#include "board/board.hpp"

namespace stretto {

/// Calls `take(rank, bytes)` for every other rank once it has arrived, the first first, with the length of the block
/// that it has left. This rank has arrived, too.
template <class Take>
Task as_they_arrive(Group& g, Take take) {
  Board& board = g.board();
  for (int position = 0; position < g.size(); ++position) {
    Arrival& arrival = board.arrival(position);
    co_await board.reached(g, arrival.announced);
    const int rank = static_cast<int>(arrival.rank);
    if (rank != g.rank()) take(rank, arrival.block_bytes);
  }
  board.synchronised();
}

/// The block that each rank has left, to where it belongs in the output; the own one is the input.
inline Task take_all_blocks(Group& g, const Call& call) {
  put_own_block(g, call);
  const std::size_t longest = longest_bytes(g, call);
  const auto take = [&](int rank, std::size_t left) {
    const Block block = block_of(call, rank);
    if (!Board::can_take(g, left, bytes(call, block))) return;
    const std::byte* theirs = g.board().block_data(rank, left, call.blocks == nullptr ? left : longest);
    g.copy(call.output + offset(call, block), theirs, std::min(left, bytes(call, block)));
  };
  Task copies = as_they_arrive(g, take);
  co_await copies;
}

}  // namespace stretto
