// Barrier on the arrival board: whoever comes last says so.
//
// Cost: one fetch-add a rank; after the last arrival one cache line to everybody.

#include "algorithms/algorithms.hpp"
#include "arrival/board.hpp"

namespace stretto::barrier {

Task arrival_count(Group& g, Call) {
  Board& board = g.board();
  board.arrive(g);
  co_await g.reached(board.generation().everyone_arrived, board.call());
  board.synchronised();
}

}  // namespace stretto::barrier
