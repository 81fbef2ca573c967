// Fold: algorithms that want a power of two of ranks run on pairs of ranks melted into one.
//
// With r = P - 2^k ranks too many, the first 2r ranks pair up: the even one of each pair hands its data to the odd one
// before, and gets the result after (Thakur, Rabenseifner, Gropp 2005, section 4.5). Pairs are neighbours, so the
// order of ranks is kept.
#pragma once

#include <algorithm>

#include "algorithms/parts/trees.hpp"
#include "core/group.hpp"

namespace stretto {

struct Fold {
  int power;   // how many ranks (melted pairs counted once) take part
  int extra;   // r
  int number;  // this rank's number among them, -1 for the even rank of a pair

  explicit Fold(const Group& g) : power(floor_power_of_two(g.size())), extra(g.size() - power) {
    const bool paired = g.rank() < 2 * extra;
    if (paired) {
      number = g.rank() % 2 == 1 ? g.rank() / 2 : -1;
    } else {
      number = g.rank() - extra;
    }
  }

  bool active() const { return number >= 0; }
  int rank_of(int participant) const { return participant < extra ? 2 * participant + 1 : participant + extra; }
  /// The lowest rank that is melted into the participant.
  int lowest_rank_of(int participant) const { return participant + std::min(participant, extra); }
};

/// Before: pairs melt. `accumulator` holds this rank's data, `scratch` is as large.
inline Task fold_in(Group& g, const Fold& fold, const Call& call, std::byte* accumulator, std::byte* scratch) {
  if (g.rank() >= 2 * fold.extra) co_return;
  if (!fold.active()) {
    co_await g.send(accumulator, call.bytes(), g.rank() + 1);
  } else {
    co_await g.recv(scratch, call.bytes(), g.rank() - 1);
    g.reduce(call, scratch, accumulator, call.count);
  }
}

/// After: the idle ranks get the result.
inline Task fold_out(Group& g, const Fold& fold, const Call& call, std::byte* result) {
  if (g.rank() >= 2 * fold.extra) co_return;
  if (!fold.active()) {
    co_await g.recv(result, call.bytes(), g.rank() + 1);
  } else {
    co_await g.send(result, call.bytes(), g.rank() - 1);
  }
}

}  // namespace stretto
