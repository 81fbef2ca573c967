// Arrival order: in which order the ranks of a call are expected.
//
// Algorithms that sort their messages by it do not know where it comes from (hints, history, a measured pattern), only
// that all ranks have the same one. A wrong order costs time, never a result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stretto {

class ArrivalOrder {
 public:
  /// From each rank's expected time of arrival, in any unit. Ranks with equal times are in the order of their numbers.
  explicit ArrivalOrder(std::span<const std::int64_t> times);

  /// The rank that is expected at `position`, from 0.
  int rank_at(int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

 private:
  std::vector<int> ranks_;
};

}  // namespace stretto
