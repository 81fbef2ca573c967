#include "board/slots.hpp"

#include "board/board.hpp"

namespace stretto {

Task combine_slots(Group& g, Call call, bool combine) {
  Board& board = g.board();
  const std::size_t n = call.bytes();
  g.copy(board.slot_data(g.rank(), n), call.input, n);
  board.publish(g, board.slot(g.rank()).filled);
  if (!combine) co_return;

  // Downwards, so that the slot always holds the lower ranks: the left-hand operand.
  for (int rank = g.size() - 1; rank >= 0; --rank) {
    co_await board.reached(g, board.slot(rank).filled);
    const std::byte* theirs = board.slot_data(rank, n);
    if (rank == g.size() - 1) {
      g.copy(call.output, theirs, n);
    } else {
      g.reduce(call, theirs, call.output, call.count);
    }
  }
  board.synchronised();
}

}  // namespace stretto
