// When each rank arrives at the measured call.
#pragma once

#include <cstdint>
#include <memory>
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
  // "balanced", "mif:20", "uniform:50000000" and the like with a time in ns, "noise:10,2500000" with Hz and ns,
  // "rank-late:3,50000000", or "replay:FILE" with a file that has a line a call, the ranks' delays in ns. Throws
  // UsageError.
  static ArrivalPattern parse(const std::string& text);

  Manner manner() const;
  // Delays are so short that a sleep between calls would cool the caches that the call finds warm.
  bool is_tight() const { return kind_ == Kind::balanced || kind_ == Kind::mif || kind_ == Kind::noise; }

  // Throws UsageError if ranks on these nodes, one a rank, cannot arrive so.
  void check(const std::vector<int>& nodes) const;

  // The planned delay of each rank in ns; the same on every rank and for every algorithm of an iteration. `nodes`: of
  // each rank. `latency_ns`: one-way point-to-point time of the message size, the unit of `mif`.
  std::vector<std::int64_t> delays_ns(std::uint64_t seed, std::uint64_t iteration, const std::vector<int>& nodes,
                                      std::int64_t latency_ns) const;

  // Detours of each rank from its work, all the time (Luo 2018): how often, 0 if never, and for how long.
  double noise_hz() const { return kind_ == Kind::noise ? noise_hz_ : 0; }
  std::int64_t noise_ns() const { return static_cast<std::int64_t>(value_); }

 private:
  enum class Kind {
    balanced,
    mif,
    uniform,
    normal,
    compute_uniform,
    one_late,
    one_early,
    half_late,
    staircase,
    node_late,
    rank_late,
    noise,
    replay
  };
  using Calls = std::vector<std::vector<std::int64_t>>;
  static Calls read_calls(const std::string& file);

  Kind kind_ = Kind::balanced;
  double value_ = 0;  // ns, or the maximum imbalance factor
  double noise_hz_ = 0;
  std::size_t late_rank_ = 0;
  std::shared_ptr<const Calls> replayed_;
};

}  // namespace stretto::bench
