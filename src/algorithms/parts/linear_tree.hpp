// A linear tree, or chain: segments are reduced from the first rank of a line to the last, and their results come to
// all ranks one behind the other.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Which way the results take from the last rank.
enum class Results {
  back,   // along the line, to the last but one first
  around  // to the first rank, and from there along the line in the direction of the reduction
};

/// An allreduce along the line of predicted arrival (algorithms/parts/line.hpp). Streams 1 to 6 between neighbours on
/// it, the last and the first being neighbours too.
Task linear_tree(Group& g, Call call, Results results);

}  // namespace stretto
