// What ranks have left in shared memory, in the order in which they came.
#pragma once

#include "arrival/board.hpp"

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

}  // namespace stretto
