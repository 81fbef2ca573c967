#include "prediction/history.hpp"

#include <algorithm>
#include <cstdlib>

namespace stretto {
namespace {

constexpr std::int64_t kWeight = 4;      // a window counts for a quarter
constexpr std::int64_t kUsefulPart = 2;  // a prediction must leave less than half of the imbalance unexplained
constexpr std::int64_t kJump = 3;        // times the noise within a window

/// Every arrival relative to the mean of its call.
std::vector<std::int64_t> lateness_of(std::span<const std::int64_t> arrivals_ns, std::size_t ranks) {
  std::vector<std::int64_t> lateness(arrivals_ns.begin(), arrivals_ns.end());
  for (std::size_t call = 0; call < History::kWindow; ++call) {
    const std::int64_t origin = arrivals_ns[call];  // near all of them, so that sums stay small
    std::int64_t sum = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) sum += arrivals_ns[rank * History::kWindow + call] - origin;
    const std::int64_t mean = origin + sum / std::max<std::int64_t>(static_cast<std::int64_t>(ranks), 1);
    for (std::size_t rank = 0; rank < ranks; ++rank) lateness[rank * History::kWindow + call] -= mean;
  }
  return lateness;
}

/// Each rank's mean over the window.
std::vector<std::int64_t> means_of(const std::vector<std::int64_t>& lateness, std::size_t ranks) {
  std::vector<std::int64_t> means(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t call = 0; call < History::kWindow; ++call) means[rank] += lateness[rank * History::kWindow + call];
    means[rank] /= History::kWindow;
  }
  return means;
}

/// The mean distance of all arrivals from what `expected` says of their ranks.
std::int64_t distance(const std::vector<std::int64_t>& lateness, const std::vector<std::int64_t>& expected) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lateness.size(); ++i) sum += std::abs(lateness[i] - expected[i / History::kWindow]);
  return sum / static_cast<std::int64_t>(lateness.size());
}

}  // namespace

void History::learn(std::span<const std::int64_t> arrivals_ns) {
  const std::size_t ranks = expected_ns_.size();
  const std::vector<std::int64_t> lateness = lateness_of(arrivals_ns, ranks);
  const std::vector<std::int64_t> window = means_of(lateness, ranks);
  imbalance_ns_ = distance(lateness, std::vector<std::int64_t>(ranks));
  error_ns_ = distance(lateness, expected_ns_);
  const std::int64_t noise_ns = distance(lateness, window);

  const bool borne_out = trained_ && kUsefulPart * error_ns_ < imbalance_ns_;
  const bool jumped = trained_ && !borne_out && error_ns_ > kJump * noise_ns;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t step = window[rank] - expected_ns_[rank];
    expected_ns_[rank] += trained_ && !jumped ? step / kWeight : step;
  }
  trained_ = true;
  if (borne_out && imbalance_ns_ > kEvenNs) {
    prediction_.emplace(expected_ns_);
  } else {
    prediction_.reset();
  }
}

}  // namespace stretto
