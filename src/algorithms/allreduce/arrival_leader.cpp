// Arrival leader: the first to arrive leads; it reduces whoever comes, in the order of coming, and shares the result.
//
// Alizadeh 2021, Algorithm 4.1. Where the paper takes a mutex and resets flags, the board has one fetch-add and call
// numbers; where its leader scans the flags of all ranks, ours follows the order of arrival.
// Cost after the last arrival: nγ in the leader and n bytes copied to each rank; balanced: P nγ in the leader alone.
// For small messages (a slot, 32 KiB; longer ones in several rounds). Non-commutative operations are combined in the
// order of ranks once all are there.

#include "board/board.hpp"
#include "board/leader.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task arrival_leader(Group& g, Call call) {
  Board& board = g.board();
  Task reduced = reduce_at_leader(g, call);
  co_await reduced;
  co_await board.reached(g, board.generation().done);
  g.copy(call.output, board.result_data(call.bytes()), call.bytes());
  board.synchronised_by_arrival();
}

using namespace letters;

extern constinit const Description arrival_leader_described{
    .collective = Collective::allreduce,
    .name = "arrival_leader",
    .run = &arrival_leader,
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .sums = Sums::as_they_come,
    .summary = "the first to arrive reduces whoever comes",
    .source = "Alizadeh 2021, Algorithm 4.1",
    .cost = {.balanced = P * n * gamma + P * n * kappa, .after_last = n * gamma + P * n * kappa},
};

}  // namespace stretto::allreduce
