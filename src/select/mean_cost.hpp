// What calls cost in the mean, and how sure that is.
#pragma once

#include <algorithm>

namespace stretto {

/// What calls of one arm cost, the latest of which count most.
class MeanCost {
 public:
  /// For people, and for a file.
  struct Summary {
    double calls = 0;
    double mean_ns = 0;
    double typical_ns = 0;  // the geometric mean
    double spread = 0;      // standard deviation of the logarithms
  };
  static constexpr double kRemembered = 256;  // calls

  MeanCost() = default;
  explicit MeanCost(const Summary& summary);
  Summary summary() const;

  void add(double cost_ns);
  /// What follows is to count for more than what was seen.
  void fade(double to_calls);
  double calls() const { return calls_; }
  double mean_ns() const { return sum_ / calls_; }
  /// Of the logarithms: their mean, how they differ from that (squared), and the variance of the mean, where they
  /// differ by `least_spread2` at least.
  double level() const { return logarithms_ / calls_; }
  double spread2() const;
  double variance(double least_spread2 = 0) const { return std::max(spread2(), least_spread2) / (calls_ - 1); }

 private:
  double calls_ = 0;
  double sum_ = 0;
  double logarithms_ = 0;
  double squares_ = 0;  // of those
};

}  // namespace stretto
