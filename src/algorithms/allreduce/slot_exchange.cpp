// Slot exchange: everybody leaves its data in its slot on the board and reads everybody else's.
//
// The flat shared-memory exchange of XHC and friends: one cache line a rank carries payload and sequence number.
// Cost after the last arrival: one line transfer, and P nγ on every rank. Nobody waits for a leader to be scheduled,
// which makes it the fastest for a few bytes and few ranks, and the last to arrive waits for nothing at all. P^2 n
// bytes are read, so it is not for more. Combines in the order of ranks: serves every operation, deterministic.

#include "algorithms/algorithms.hpp"
#include "arrival/board.hpp"

namespace stretto::allreduce {

Task slot_exchange(Group& g, Call call) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  g.copy(board.slot_data(g.rank(), n), call.input, n);
  g.publish(board.slot(g.rank()).filled, board.call());

  // Downwards, so that the slot always holds the lower ranks: the left-hand operand.
  for (int rank = g.size() - 1; rank >= 0; --rank) {
    co_await g.reached(board.slot(rank).filled, board.call());
    const std::byte* theirs = board.slot_data(rank, n);
    if (rank == g.size() - 1) {
      g.copy(call.output, theirs, n);
    } else {
      g.reduce(call, theirs, call.output, call.count);
    }
  }
  board.synchronised();
}

}  // namespace stretto::allreduce
