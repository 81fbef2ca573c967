// What ranks have seen of measured calls, together, and what calls took in the mean.
#pragma once

#include <cstdint>
#include <span>

namespace stretto {

/// What the ranks have seen of a call, together.
struct SeenCall {
  std::int64_t skew_ns = 0;  // from the first arrival to the last
  std::int64_t cost_ns = 0;  // from the last arrival to the last exit; see SightView::seen
};

/// Of at least one call; at least 1.
double median_of(std::span<const SeenCall> calls, std::int64_t SeenCall::*of);
/// What a call cost, less what makes it more than some times the median: what a core loses to others is none of the
/// arm's cost.
double without_loss(const SeenCall& call, double median_ns);
/// Of at least one call, without such losses.
double mean_cost(std::span<const SeenCall> calls);
/// Standard deviation of the logarithms of the costs of at least two calls.
double deviation(std::span<const SeenCall> calls);

}  // namespace stretto
