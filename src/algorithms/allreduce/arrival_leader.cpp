// Arrival leader: the first to arrive leads; it reduces whoever comes, in the order of coming, and shares the result.
//
// Alizadeh 2021, Algorithm 4.1. Where the paper takes a mutex and resets flags, the board has one fetch-add and call
// numbers; where its leader scans the flags of all ranks, ours follows the order of arrival.
// Cost after the last arrival: nγ in the leader and n bytes copied to each rank; balanced: P nγ in the leader alone.
// For small messages (a slot, 32 KiB; longer ones in several rounds). Non-commutative operations are combined in the
// order of ranks once all are there.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/leader.hpp"
#include "arrival/board.hpp"

namespace stretto::allreduce {

Task arrival_leader(Group& g, Call call) {
  Board& board = g.board();
  Task reduced = reduce_at_leader(g, call);
  co_await reduced;
  co_await g.reached(board.generation().done, board.call());
  g.copy(call.output, board.result_data(call.bytes()), call.bytes());
  board.synchronised_by_arrival();
}

}  // namespace stretto::allreduce
