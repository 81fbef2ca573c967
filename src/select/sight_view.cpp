#include "select/sight_view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stretto {
namespace {

constexpr double kDrift = 1e-4;  // of clocks of two nodes, at most

}  // namespace

SightView SightView::of(const Sight& call) {
  const std::int64_t took_ns = call.exit_ns - call.arrival_ns;
  return {call.arrival_ns, call.arrival_ns, call.exit_ns, took_ns, took_ns};
}

// Of two that came at once the longer call.
void SightView::add(const SightView& theirs) {
  if (std::pair(theirs.last_arrival_ns, theirs.last_took_ns) > std::pair(last_arrival_ns, last_took_ns)) {
    last_arrival_ns = theirs.last_arrival_ns;
    last_took_ns = theirs.last_took_ns;
  }
  first_arrival_ns = std::min(first_arrival_ns, theirs.first_arrival_ns);
  last_exit_ns = std::max(last_exit_ns, theirs.last_exit_ns);
  took_ns += theirs.took_ns;
}

SeenCall SightView::seen(bool one_clock, int may_leave) const {
  const double drift_ns = one_clock ? 0 : kDrift * static_cast<double>(first_arrival_ns);
  const std::int64_t skew_ns = std::max<std::int64_t>(last_arrival_ns - first_arrival_ns - std::llround(drift_ns), 0);
  const std::int64_t left_ns = one_clock ? last_exit_ns - last_arrival_ns : last_took_ns;
  if (may_leave == 0) return {skew_ns, left_ns};
  const double mean_ns = static_cast<double>(took_ns) / may_leave;
  if (!one_clock) return {skew_ns, std::llround(mean_ns)};
  return {skew_ns, std::llround(std::sqrt(static_cast<double>(std::max<std::int64_t>(left_ns, 1)) * mean_ns))};
}

}  // namespace stretto
