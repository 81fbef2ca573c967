// Arrival leader: the first to arrive leads; it reduces whoever comes, in the order of coming, and shares the result.
//
// Alizadeh 2021, Algorithm 4.1. Where the paper takes a mutex and resets flags, the board has one fetch-add and call
// numbers; where its leader scans the flags of all ranks, ours follows the order of arrival.
// Cost after the last arrival: nγ in the leader and n bytes copied to each rank; balanced: P nγ in the leader alone.
// For small messages (a slot, 32 KiB; longer ones in several rounds). Non-commutative operations are combined in the
// order of ranks once all are there.

#include "algorithms/algorithms.hpp"
#include "arrival/board.hpp"

namespace stretto::allreduce {
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

Task arrival_leader(Group& g, Call call) {
  Board& board = g.board();
  Generation& now = board.generation();
  const std::size_t n = call.bytes();
  std::byte* mine = board.slot_data(g.rank(), n);
  g.copy(mine, call.input, n);
  const bool leader = board.arrive(g) == 0;

  if (leader) {
    int holder = g.rank();
    if (call.reduction->commutative) {
      for (int position = 1; position < g.size(); ++position) {
        const Arrival& newcomer = board.arrival(position);
        co_await g.reached(board.arrival(position).announced, board.call());
        g.reduce(call, board.slot_data(static_cast<int>(newcomer.rank), n), mine, call.count);
      }
    } else {
      co_await g.reached(now.everyone_arrived, board.call());
      holder = combine_in_rank_order(g, call);
    }
    now.result_rank = static_cast<std::uint32_t>(holder);
    g.copy(board.result_data(n), board.slot_data(holder, n), n);
    g.publish(now.done, board.call());
  } else {
    co_await g.reached(now.done, board.call());
  }
  g.copy(call.output, board.result_data(n), n);
  board.synchronised_by_arrival();
}

}  // namespace stretto::allreduce
