// Recursive halving and doubling over a power of two of participants, of which each ends, or begins, with a run of
// elements of its own.
#pragma once

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/exchange.hpp"

namespace stretto {

struct Participant {
  int number;
  int of;  // a power of two
};

/// The number with the same bits in reverse, of those that `of`, a power of two, has room for. Participants numbered so
/// exchange the most with the rank beside them, where they would with the one farthest away.
inline int reversed_bits(int number, int of) {
  int reversed = 0;
  for (int bit = 1; bit < of; bit *= 2) reversed = 2 * reversed + ((number & bit) != 0 ? 1 : 0);
  return reversed;
}

/// Of what is left, everybody keeps the half that holds its own run, and gives the other away; `accumulator` has the
/// whole, `theirs` room for half of it. `run(first, count)` are the elements of so many participants, `rank_of` says
/// who they are. Does not keep the order of ranks.
template <class Run, class RankOf>
Task reduce_by_halving(Group& g, const Call& call, std::byte* accumulator, std::byte* theirs, Participant me, Run run,
                       RankOf rank_of) {
  int mine = 0;
  for (int half = me.of / 2; half >= 1; half /= 2) {
    const int partner = rank_of(me.number ^ half);
    const bool upper = (me.number & half) != 0;
    const Block keep = run(upper ? mine + half : mine, half);
    const Block give = run(upper ? mine : mine + half, half);
    co_await exchange(g, accumulator + offset(call, give), bytes(call, give), partner, theirs, bytes(call, keep),
                      partner);
    g.reduce(call, theirs, accumulator + offset(call, keep), keep.count);
    if (upper) mine += half;
  }
}

/// The runs in `blocks` grow together: of each participant its own is there, and in the end all are.
template <class Run, class RankOf>
Task gather_by_doubling(Group& g, const Call& call, std::byte* blocks, Participant me, Run run, RankOf rank_of) {
  for (int half = 1; half < me.of; half *= 2) {
    const int partner = rank_of(me.number ^ half);
    const int first = me.number & ~(half - 1);
    const Block have = run(first, half);
    const Block want = run(first ^ half, half);
    co_await exchange(g, blocks + offset(call, have), bytes(call, have), partner, blocks + offset(call, want),
                      bytes(call, want), partner);
  }
}

}  // namespace stretto
