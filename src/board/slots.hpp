// Everybody leaves its data in its slot on the board, and whoever wants the result reads all slots, in the order of
// ranks. Nothing has two writers, and nobody learns who came when: for short messages that is quicker.
#pragma once

#include "board/board.hpp"
#include "core/group.hpp"

namespace stretto::slots {

// --- what a rank leaves ---
/// The input, one slot at most.
void leave_input(Group& g, const Call& call);
/// A block of it for each rank, in the pool where they are together too long for a slot.
void leave_blocks(Group& g, const Call& call);

// --- what is done with that of `rank`: of all ranks, the highest first ---
/// Inputs are combined into the output. Of no data (count 0) there is nothing to be done: a barrier.
void combine_input(Group& g, const Call& call, int rank);
/// The blocks for this rank are.
void combine_block(Group& g, const Call& call, int rank);
/// The input is the block of `rank` in the output.
void collect_input(Group& g, const Call& call, int rank);
/// The block for this rank is.
void collect_block(Group& g, const Call& call, int rank);

using Leave = void (*)(Group&, const Call&);
using Take = void (*)(Group&, const Call&, int rank);

/// Both, as an algorithm's `run` and as Shortly has it. `takes`: whether this rank wants the result; else it returns at
/// once.
template <Leave leave, Take take>
struct Exchange {
  static Task run(Group& g, Call call, bool takes) {
    leave(g, call);
    if (takes) co_await rest(g, call);
  }

  static Task rest(Group& g, Call call) {
    Board& board = g.board();
    for (int rank = g.size() - 1; rank >= 0; --rank) {
      co_await board.reached(g, board.slot(rank).filled);
      take(g, call, rank);
    }
    board.synchronised();
  }

  static bool shortly(Group& g, const Call& call, bool takes) {
    leave(g, call);
    if (!takes) return true;
    Board& board = g.board();
    for (int rank = g.size() - 1; rank >= 0; --rank) {
      if (!board.comes_soon(g, board.slot(rank).filled)) return false;
      take(g, call, rank);
    }
    board.synchronised();
    return true;
  }
};

}  // namespace stretto::slots
