// What is known of what both arms take: the MPI library's own call, and Stretto's, which is one of a few candidates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "select/mean_cost.hpp"
#include "select/seen_calls.hpp"

namespace stretto {

enum class Arm : std::uint8_t { native, ours };
inline constexpr int kCandidates = 3;  // of Stretto's arm

/// What Stretto's arm costs in terms of native's, at least and at most.
struct Ratio {
  double value;
  double low;
  double high;
  bool is_clear() const { return high < 1 || low > 1; }
};

/// What calls at rest take.
struct RestCost {
  bool changed = false;
  double dearer = 1;  // than it was, where that has changed
};

struct KnownArms {
  static constexpr double kDeviations = 3.3;  // that an interval is wide to each side
  static constexpr double kTrusted = 14;      // calls of an arm, to go by
  static constexpr double kFewest = 3;        // the same, where ours is much less
  static constexpr double kDoubtful = 14;     // the same, that are left where something has changed
  static constexpr double kMuchLess = 0.8;    // ours, in terms of native: not in doubt
  static constexpr double kUnseen = 2;        // what ours may come to cost in these terms before that is seen

  using Costs = std::array<MeanCost, 1 + kCandidates>;  // native's, and those of Stretto's candidates
  Costs costs{};
  int candidate = 0;     // that is our arm
  double native_ns = 0;  // of a call

  const MeanCost& native() const { return costs.front(); }
  MeanCost& ours(int which) { return costs[1 + static_cast<std::size_t>(which)]; }
  const MeanCost& ours(int which) const { return costs[1 + static_cast<std::size_t>(which)]; }
  const MeanCost& of(Arm arm) const { return arm == Arm::native ? native() : ours(candidate); }
  /// Whether enough calls have been seen of both.
  bool trusted() const;
  Ratio ratio(int which) const;
  Ratio ratio() const { return ratio(candidate); }
  /// Takes another candidate for our arm where that is better by the calls of a cycle.
  void choose_candidate(const KnownArms& of_cycle);
  /// Calls of an arm between trials, at least two: whether they take something else than they took.
  RestCost note_rest(std::span<const SeenCall> rest, Arm arm);
  /// What is known may be so no more, or is not.
  void doubt();
  void forget();

 private:
  // What calls take at rest, by the logarithm of the median, and by how much of late it was above and below.
  struct Level {
    double mean = 0;
    int rests = 0;
    double above = 0;
    double below = 0;
  };
  std::array<Level, 2> levels_{};  // by arm
};

}  // namespace stretto
