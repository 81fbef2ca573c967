// What ranks have left in shared memory, in the order in which they came.
#pragma once

#include "algorithms/parts/blocks.hpp"
#include "board/board.hpp"

namespace stretto {

/// Calls `take(rank)` for every other rank once it has arrived, the first first. This rank has, too.
template <class Take>
Task as_they_arrive(Group& g, Take take) {
  Board& board = g.board();
  for (int position = 0; position < g.size(); ++position) {
    Arrival& arrival = board.arrival(position);
    co_await g.reached(arrival.announced, board.call());
    const int rank = static_cast<int>(arrival.rank);
    if (rank != g.rank()) take(rank);
  }
  board.synchronised();
}

/// The block that each rank has left, to where it belongs in the output; the own one is the input.
inline Task take_all_blocks(Group& g, const Call& call) {
  put_own_block(g, call);
  const auto take = [&](int rank) {
    const std::byte* left = g.board().block_data(rank, call.bytes());
    g.copy(call.output + offset(call, block_of(call, rank)), left, call.bytes());
  };
  Task copies = as_they_arrive(g, take);
  co_await copies;
}

}  // namespace stretto
