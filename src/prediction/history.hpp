// Predicts in which order ranks will arrive at a call that is repeated, from how they arrived before.
//
// The arrivals of all ranks are exchanged a window of calls a time, so every rank learns from the same numbers and
// comes to the same prediction (in integers: the same on any machine). A rank's lateness is its distance from the mean
// arrival of a call; what is expected is an exponentially weighted mean of it. Patterns are steady for long and then
// jump (Alizadeh 2021, section 3.4): a window that lies far off starts afresh. A prediction is used only while the
// window after it bears it out, and while there is something to predict.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "prediction/order.hpp"

namespace stretto {

class History {
 public:
  static constexpr int kWindow = 8;  // calls between two exchanges
  /// Ranks whose mean distance from the mean arrival is below this are taken to arrive together.
  static constexpr std::int64_t kEvenNs = 50'000;

  explicit History(int ranks) : expected_ns_(static_cast<std::size_t>(ranks)) {}

  /// Learns from one window: `arrivals_ns` holds kWindow times of each rank, rank by rank, on one clock.
  void learn(std::span<const std::int64_t> arrivals_ns);

  /// In which order the ranks are expected; nullptr while nothing can be said.
  const ArrivalOrder* prediction() const { return prediction_ ? &*prediction_ : nullptr; }

  /// Of the latest window, per rank and call: the mean distance from the mean arrival (Δ, average-case imbalance), and
  /// from what was expected.
  std::int64_t imbalance_ns() const { return imbalance_ns_; }
  std::int64_t error_ns() const { return error_ns_; }

 private:
  std::vector<std::int64_t> expected_ns_;  // by rank, relative to the mean
  bool trained_ = false;
  std::int64_t imbalance_ns_ = 0;
  std::int64_t error_ns_ = 0;
  std::optional<ArrivalOrder> prediction_;
};

}  // namespace stretto
