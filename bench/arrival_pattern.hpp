// When each rank arrives at the measured call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stretto::bench {

// How a rank spends the time until it arrives.
enum class Manner {
  together,   // barrier, then straight into the call (Alizadeh 2021, Listing 4.1)
  sleeping,   // asleep: its core is free for others
  computing,  // a fixed amount of work: whoever takes its core makes it later (Listing 4.2)
  // The same, but a rank without delay calls just before the others begin to compute. Else the first arrival, from
  // which the run time counts, would be the scheduler's whim among ranks that all compute: that alone made the medians
  // of 200 calls of one algorithm differ by 2 %.
  computing_late,
};

class ArrivalPattern {
 public:
  // "balanced", "mif:20", or "uniform:50000000" and the like with a time in ns. Throws UsageError.
  static ArrivalPattern parse(const std::string& text);

  Manner manner() const;
  // Delays are so short that a sleep between calls would cool the caches that the call finds warm.
  bool is_tight() const { return kind_ == Kind::balanced || kind_ == Kind::mif; }

  // The planned delay of each rank in ns; the same on every rank and for every algorithm of an iteration.
  // `latency_ns`: one-way point-to-point time of the message size, the unit of `mif`.
  std::vector<std::int64_t> delays_ns(std::uint64_t seed, std::uint64_t iteration, int ranks,
                                      std::int64_t latency_ns) const;

 private:
  enum class Kind { balanced, mif, uniform, compute_uniform, one_late, one_early, half_late, staircase };

  Kind kind_ = Kind::balanced;
  double value_ = 0;  // ns, or the maximum imbalance factor
};

}  // namespace stretto::bench
