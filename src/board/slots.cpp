#include "board/slots.hpp"

#include <algorithm>

#include "algorithms/parts/blocks.hpp"

namespace stretto::slots {
namespace {

// Where `from` leaves its block for `to`; where each rank has a length of its own, there is room for the longest.
std::byte* block_between(Group& g, const Call& call, int from, int to) {
  const std::size_t n = longest_bytes(g, call);
  return g.board().block_data(from, n * static_cast<std::size_t>(g.size())) + n * static_cast<std::size_t>(to);
}

// After the data of the higher ranks, so that the output is the right-hand operand.
void combine(Group& g, const Call& call, int rank, const std::byte* theirs) {
  if (rank == g.size() - 1) {
    g.copy(call.output, theirs, call.bytes());
  } else {
    g.reduce(call, theirs, call.output, call.count);
  }
}

}  // namespace

void leave_input(Group& g, const Call& call) {
  g.copy(g.board().slot_data(g.rank(), call.bytes()), call.input, call.bytes());
  g.board().publish_slot(g, g.rank(), call.bytes());
}

void leave_blocks(Group& g, const Call& call) {
  for (int to = 0; to < g.size(); ++to) {
    const Block block = block_of(call, to);
    g.copy(block_between(g, call, g.rank(), to), call.input + offset(call, block), bytes(call, block));
  }
  g.board().publish_slot(g, g.rank(), longest_bytes(g, call) * static_cast<std::size_t>(g.size()));
}

void combine_input(Group& g, const Call& call, int rank) {
  combine(g, call, rank, g.board().slot_data(rank, call.bytes()));
}

void combine_block(Group& g, const Call& call, int rank) {
  combine(g, call, rank, block_between(g, call, rank, g.rank()));
}

void collect_input(Group& g, const Call& call, int rank) {
  const std::size_t left = g.board().slot(rank).bytes;
  if (rank == g.rank()) {
    put_own_block(g, call);
    return;
  }
  const Block block = block_of(call, rank);
  if (!Board::can_take(g, left, bytes(call, block))) return;
  g.copy(call.output + offset(call, block), g.board().slot_data(rank, left), std::min(left, bytes(call, block)));
}

void collect_block(Group& g, const Call& call, int rank) {
  g.copy(call.output + offset(call, output_block_of(call, rank)), block_between(g, call, rank, g.rank()), call.bytes());
}

}  // namespace stretto::slots
