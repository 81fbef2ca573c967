// Arrival order: in which order the ranks of a call are expected, and when.
//
// Algorithms that sort their messages by it do not know where it comes from (hints, history, a measured pattern), only
// that all ranks have the same one. A wrong order, or a wrong time, costs time, never a result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stretto {

class ArrivalOrder {
 public:
  /// From each rank's expected time of arrival in ns, since any moment. Ranks with equal times are in the order of
  /// their numbers.
  explicit ArrivalOrder(std::span<const std::int64_t> times_ns);

  /// The rank that is expected at `position`, from 0.
  int rank_at(int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  int position_of(int rank) const { return positions_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  /// How long after the first rank `rank` is expected. At most kLatestNs, so that plans cannot overflow.
  std::int64_t expected_ns(int rank) const { return expected_ns_[static_cast<std::size_t>(rank)]; }
  static constexpr std::int64_t kLatestNs = std::int64_t{1} << 60;

 private:
  std::vector<int> ranks_;      // by position
  std::vector<int> positions_;  // by rank
  std::vector<std::int64_t> expected_ns_;
};

}  // namespace stretto
