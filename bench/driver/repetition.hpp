// How often to repeat: a given number of times, or until the figures are known well enough or the time is up.
#pragma once

#include <cstdint>

#include "sample_log.hpp"

namespace stretto::bench {

class Repetition {
 public:
  // `iterations`: at most so many, and without a precision asked for exactly so many.
  Repetition(const Options& options, World& world, int iterations, bool by_lag);
  // Whether to go on after `done` iterations, all in the log. It looks at the figures and the clock the more seldom,
  // the more are done, so the time may be exceeded by a quarter. Collective; the same on all ranks.
  bool goes_on(int done, const SampleLog& log);
  // On rank 0 the widest half interval of a median when it was last looked at, as a part of it; 0 if it was not.
  double reached() const { return reached_; }

 private:
  const Options& options_;
  World& world_;
  int iterations_;
  bool by_lag_;
  int next_look_;
  std::int64_t deadline_ns_;
  double reached_ = 0;
};

// Half the 95 % interval of the median of `values`, as a part of the median, by order statistics: among n sorted values
// the median lies between those at n/2 -+ 0.98 sqrt(n) (binomial distribution, normal approximation).
double relative_half_interval(std::vector<double> values);

}  // namespace stretto::bench
