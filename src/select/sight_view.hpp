// What ranks have seen of a call, put together.
#pragma once

#include <cstdint>

#include "board/sights.hpp"
#include "select/adaptation.hpp"

namespace stretto {

/// What some ranks have seen of a call together. Times are on one clock, as well as that is known.
struct SightView {
  std::int64_t first_arrival_ns;
  std::int64_t last_arrival_ns;
  std::int64_t last_exit_ns;
  std::int64_t last_took_ns;  // the call of whoever came last

  /// Of one rank, whose clock is `ahead_ns` ahead.
  static SightView of(const Sight& call, std::int64_t ahead_ns);
  /// And others'; in whichever order, the result is the same.
  void add(const SightView& theirs);
  /// Of all ranks. Between clocks that differ the order of arrival is all that is sure enough: then the cost is what
  /// the last one spends in the call.
  SeenCall seen(bool one_clock) const;
};

}  // namespace stretto
