#include "prediction/order.hpp"

#include <algorithm>
#include <numeric>

namespace stretto {

ArrivalOrder::ArrivalOrder(std::span<const std::int64_t> times_ns)
    : ranks_(times_ns.size()), positions_(times_ns.size()) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
  std::stable_sort(ranks_.begin(), ranks_.end(), [&](int left, int right) {
    return times_ns[static_cast<std::size_t>(left)] < times_ns[static_cast<std::size_t>(right)];
  });
  for (int position = 0; position < size(); ++position)
    positions_[static_cast<std::size_t>(rank_at(position))] = position;
  for (const std::int64_t time_ns : times_ns) {
    // Unsigned: the distance between any two times fits.
    const auto first = static_cast<std::uint64_t>(times_ns[static_cast<std::size_t>(ranks_.front())]);
    const std::uint64_t after_first = static_cast<std::uint64_t>(time_ns) - first;
    expected_ns_.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(after_first, kLatestNs)));
  }
}

}  // namespace stretto
