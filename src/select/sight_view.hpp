// What ranks have seen of a call, put together.
#pragma once

#include <cstdint>

#include "board/sights.hpp"
#include "select/seen_calls.hpp"

namespace stretto {

/// What some ranks have seen of a call together. Times are on one clock, or count on each from a moment that was the
/// same for all; by how much clocks may have drifted apart since is not taken for lateness.
struct SightView {
  std::int64_t first_arrival_ns = 0;
  std::int64_t last_arrival_ns = 0;
  std::int64_t last_exit_ns = 0;
  std::int64_t last_took_ns = 0;  // the call of whoever came last
  std::int64_t took_ns = 0;       // the calls of all of them together

  /// Of one rank.
  static SightView of(const Sight& call);
  /// And others'; in whichever order, the result is the same.
  void add(const SightView& theirs);
  /// Of all ranks. The cost of a call that all wait in for all is what is left once the last has come; where ranks need
  /// not wait (`may_leave`: how many they are; 0: all wait) the geometric mean of that and of what they spend in the
  /// call in the mean, as in `stretto tune`. Between clocks that differ the order of arrival is all that is sure
  /// enough: then it is what the last one spends in the call, and where ranks need not wait, so that who is last has
  /// long left, what they spend in the mean.
  SeenCall seen(bool one_clock, int may_leave) const;
};

}  // namespace stretto
