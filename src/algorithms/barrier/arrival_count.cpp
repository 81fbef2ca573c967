// Barrier on the arrival board: whoever comes last says so.
//
// Cost: one fetch-add a rank; after the last arrival one cache line to everybody.

#include "board/board.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::barrier {

Task arrival_count(Group& g, Call) {
  Board& board = g.board();
  board.arrive(g);
  co_await board.reached(g, board.generation().everyone_arrived);
  board.synchronised();
}

using namespace letters;

extern constinit const Description arrival_count_described{
    .collective = Collective::barrier,
    .name = "arrival_count",
    .run = &arrival_count,
    .needs = {.memory = Memory::board},
    .summary = "the last to arrive tells everybody",
    .source = "Stretto",
    .cost = {.balanced = P * lambda, .after_last = lambda},
};

}  // namespace stretto::barrier
