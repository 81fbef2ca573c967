#include "arrival/order.hpp"

#include <algorithm>
#include <numeric>

namespace stretto {

ArrivalOrder::ArrivalOrder(std::span<const std::int64_t> times) : ranks_(times.size()) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
  std::stable_sort(ranks_.begin(), ranks_.end(), [&](int left, int right) {
    return times[static_cast<std::size_t>(left)] < times[static_cast<std::size_t>(right)];
  });
}

}  // namespace stretto
