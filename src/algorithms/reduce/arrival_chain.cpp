// Arrival chain: the partial result is handed from each rank to the next one that arrives; the last hands it to the
// root.
//
// Alizadeh 2021, Algorithm 5.1. At any time only one rank waits for an arrival; all before it have left.
// Cost after the last arrival: 2 (α + nβ) + nγ, segments overlapping; balanced: P-1 steps in a row, so weak where many
// come at once. Commutative operations only.

#include "board/board.hpp"
#include "board/chain.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {

Task arrival_chain(Group& g, Call call) {
  constexpr std::uint32_t kResultStream = 1;
  Board& board = g.board();
  const int position = board.arrive(g);
  const bool root = g.rank() == call.root;
  Scratch memory = g.scratch(root ? 0 : call.bytes());
  std::byte* accumulator = root ? call.output : memory.data();
  co_await chain_reduce(g, call, position, accumulator);

  const bool last = position + 1 == g.size();
  if (last && !root) co_await g.send(accumulator, call.bytes(), call.root, kResultStream);
  if (root && !last) {
    co_await board.reached(g, board.arrival(g.size() - 1).announced);
    const int finisher = static_cast<int>(board.arrival(g.size() - 1).rank);
    co_await g.recv(call.output, call.bytes(), finisher, kResultStream);
  }
}

using namespace letters;

extern constinit const Description arrival_chain_described{
    .collective = Collective::reduce,
    .name = "arrival_chain",
    .run = &arrival_chain,
    .needs = {.memory = Memory::board, .commutative = true},
    .sums = Sums::as_they_come,
    .summary = "a chain in the order of arrival, the last tells the root",
    .source = "Alizadeh 2021, Algorithm 5.1",
    .cost = {.balanced = P * (alpha + n * beta + n * gamma), .after_last = 2 * (alpha + n * beta) + n * gamma},
};

}  // namespace stretto::reduce
