// Arrival chain: a chain in the order of arrival reduces, then the last to arrive shares the result.
//
// Alizadeh 2021, section 5.3.2.
// Cost after the last arrival: α + nβ + nγ for the last link (segmented), then the shared-memory broadcast. Weak where
// many ranks come at once. Commutative operations only.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/chain.hpp"
#include "arrival/board.hpp"

namespace stretto::allreduce {

Task arrival_chain(Group& g, Call call) {
  Board& board = g.board();
  const int position = board.arrive(g);
  co_await chain_reduce(g, call, position, call.output);
  co_await g.reached(board.arrival(g.size() - 1).announced, board.call());
  call.root = static_cast<int>(board.arrival(g.size() - 1).rank);
  co_await bcast::arrival_copy(g, call);
  board.synchronised();
}

}  // namespace stretto::allreduce
