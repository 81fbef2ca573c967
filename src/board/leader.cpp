#include "board/leader.hpp"

#include "board/board.hpp"

namespace stretto {
namespace {

// Returns the rank whose slot holds the result.
int combine_in_rank_order(Group& g, const Call& call) {
  const int highest = g.size() - 1;
  std::byte* accumulator = g.board().slot_data(highest, call.bytes());
  for (int rank = highest - 1; rank >= 0; --rank) {
    g.reduce(call, g.board().slot_data(rank, call.bytes()), accumulator, call.count);
  }
  return highest;
}

}  // namespace

Task reduce_at_leader(Group& g, const Call& call) {
  Board& board = g.board();
  Generation& now = board.generation();
  const std::size_t n = call.bytes();
  std::byte* mine = board.slot_data(g.rank(), n);
  g.copy(mine, call.input, n);
  if (board.arrive(g) > 0) co_return;

  int holder = g.rank();
  if (call.reduction->commutative) {
    for (int position = 1; position < g.size(); ++position) {
      const Arrival& newcomer = board.arrival(position);
      co_await board.reached(g, board.arrival(position).announced);
      g.reduce(call, board.slot_data(static_cast<int>(newcomer.rank), n), mine, call.count);
    }
  } else {
    co_await board.reached(g, now.everyone_arrived);
    holder = combine_in_rank_order(g, call);
  }
  now.result_rank = static_cast<std::uint32_t>(holder);
  g.copy(board.result_data(n), board.slot_data(holder, n), n);
  board.publish(g, now.done);
}

}  // namespace stretto
