#include "repetition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clock.hpp"

namespace stretto::bench {
namespace {

constexpr int fewest_iterations = 20;

}  // namespace

Repetition::Repetition(const Options& options, World& world, int iterations, bool by_lag)
    : options_(options),
      world_(world),
      iterations_(iterations),
      by_lag_(by_lag),
      next_look_(1),
      deadline_ns_(now_ns() + static_cast<std::int64_t>(options.budget_s * 1e9 /
                                                        static_cast<double>(options.sizes_bytes.size()))) {}

bool Repetition::goes_on(int done, const SampleLog& log) {
  if (done >= iterations_) return false;
  if (options_.precision == 0 || done < next_look_) return true;
  next_look_ = done + std::max(1, done / 4);
  reached_ = 0;
  for (const std::vector<double>& own : log.values(by_lag_)) reached_ = std::max(reached_, relative_half_interval(own));
  const bool enough = done >= fewest_iterations && reached_ <= options_.precision;
  return world_.share(enough || now_ns() > deadline_ns_ ? 1 : 0) == 0;
}

double relative_half_interval(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double reach = 0.98 * std::sqrt(count);
  const auto at = [&](double position) {
    return values[static_cast<std::size_t>(std::clamp(position, 0.0, count - 1))];
  };
  const double median = at(count / 2);
  if (median <= 0) return std::numeric_limits<double>::infinity();
  return (at(std::ceil(count / 2 + reach)) - at(std::floor(count / 2 - reach))) / 2 / median;
}

}  // namespace stretto::bench
