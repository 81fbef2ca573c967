// Arrival leader: the first to arrive reduces whoever comes, so that a late root finds the result; the others go on.
//
// Alizadeh 2021, Algorithm 4.1, of a reduction; in `hierarchical(arrival_leader,between)` the one within nodes.
// Cost after the last arrival: nγ in the leader and a copy in the root, whichever rank is late; balanced: P nγ in the
// leader alone. For small messages (a slot, 32 KiB; longer ones in several rounds). The root of slot_gather does all
// that itself, after its own arrival.

#include "board/board.hpp"
#include "board/leader.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {

Task arrival_leader(Group& g, Call call) {
  Board& board = g.board();
  Task reduced = reduce_at_leader(g, call);
  co_await reduced;
  if (g.rank() != call.root) co_return;
  co_await board.reached(g, board.generation().done);
  g.copy(call.output, board.result_data(call.bytes()), call.bytes());
  board.synchronised();
}

using namespace letters;

extern constinit const Description arrival_leader_described{
    .collective = Collective::reduce,
    .name = "arrival_leader",
    .run = &arrival_leader,
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .sums = Sums::as_they_come,
    .summary = "the first to arrive reduces whoever comes, the root takes the result",
    .source = "Alizadeh 2021, Algorithm 4.1",
    .cost = {.balanced = P * n * gamma + n * kappa, .after_last = n * gamma + n * kappa},
};

}  // namespace stretto::reduce
