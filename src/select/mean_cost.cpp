#include "select/mean_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/steady_math.hpp"

namespace stretto {

MeanCost::MeanCost(const Summary& summary) : calls_(summary.calls), sum_(summary.calls * summary.mean_ns) {
  if (calls_ <= 0) return;
  const double level = steady_log(std::max(summary.typical_ns, 1.0));
  logarithms_ = calls_ * level;
  squares_ = calls_ * (level * level + summary.spread * summary.spread);
}

MeanCost::Summary MeanCost::summary() const {
  if (calls_ <= 0) return {};
  return {calls_, mean_ns(), steady_exp(level()), std::sqrt(spread2())};
}

void MeanCost::add(double cost_ns) {
  calls_ += 1;
  sum_ += cost_ns;
  const double logarithm = steady_log(cost_ns);
  logarithms_ += logarithm;
  squares_ += logarithm * logarithm;
  fade(kRemembered);
}

void MeanCost::fade(double to_calls) {
  if (calls_ <= to_calls) return;
  const double part = to_calls / calls_;
  for (double* each : {&calls_, &sum_, &logarithms_, &squares_}) *each *= part;
}

double MeanCost::spread2() const { return std::max(squares_ / calls_ - level() * level(), 0.0); }

}  // namespace stretto
