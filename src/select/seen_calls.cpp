#include "select/seen_calls.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/median.hpp"
#include "core/steady_math.hpp"

namespace stretto {
namespace {

constexpr double kMostOfMedian = 4;

}  // namespace

double median_of(std::span<const SeenCall> calls, std::int64_t SeenCall::*of) {
  std::vector<std::int64_t> values;
  values.reserve(calls.size());
  for (const SeenCall& call : calls) values.push_back(call.*of);
  return std::max(static_cast<double>(median(values)), 1.0);
}

double without_loss(const SeenCall& call, double median_ns) {
  return std::clamp(static_cast<double>(call.cost_ns), 1.0, kMostOfMedian * median_ns);
}

double mean_cost(std::span<const SeenCall> calls) {
  const double median_ns = median_of(calls, &SeenCall::cost_ns);
  double sum = 0;
  for (const SeenCall& call : calls) sum += without_loss(call, median_ns);
  return sum / static_cast<double>(calls.size());
}

double deviation(std::span<const SeenCall> calls) {
  double sum = 0;
  double squares = 0;
  for (const SeenCall& call : calls) {
    const double value = steady_log(std::max(static_cast<double>(call.cost_ns), 1.0));
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(calls.size());
  return std::sqrt(std::max(squares - sum * sum / n, 0.0) / (n - 1));
}

}  // namespace stretto
