// Arrival chain: a chain in the order of arrival reduces, then the last to arrive shares the result.
//
// Alizadeh 2021, section 5.3.2.
// Cost after the last arrival: α + nβ + nγ for the last link (segmented), then the shared-memory broadcast. Weak where
// many ranks come at once. Commutative operations only.

#include "board/board.hpp"
#include "board/chain.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {
Task arrival_copy(Group& g, Call call);
}

namespace stretto::allreduce {

Task arrival_chain(Group& g, Call call) {
  Board& board = g.board();
  const int position = board.arrive(g);
  co_await chain_reduce(g, call, position, call.output);
  co_await board.reached(g, board.arrival(g.size() - 1).announced);
  call.root = static_cast<int>(board.arrival(g.size() - 1).rank);
  co_await bcast::arrival_copy(g, call);
  board.synchronised();
}

using namespace letters;

extern constinit const Description arrival_chain_described{
    .collective = Collective::allreduce,
    .name = "arrival_chain",
    .run = &arrival_chain,
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1, .commutative = true},
    .sums = Sums::as_they_come,
    .summary = "a chain in the order of arrival, then a broadcast",
    .source = "Alizadeh 2021, Algorithm 5.1",
    .cost = {.balanced = P * (alpha + n * beta + n * gamma) + P * n * kappa,
             .after_last = alpha + n * beta + n * gamma + P * n * kappa},
};

}  // namespace stretto::allreduce
