#include "select/known_arms.hpp"

#include <algorithm>
#include <cmath>

#include "core/steady_math.hpp"

namespace stretto {
namespace {

constexpr double kLeastSpread = 0.1;  // of few calls: standard deviation of the logarithms
constexpr double kSurer = 1.0;        // deviations that a candidate must be better
constexpr double kBetter = 0.1;       // and by which part it must take less
constexpr double kChanged = 6;        // the cumulative sum
constexpr double kSlack = 0.5;        // of it, a rest
constexpr double kLeastError = 0.1;   // of a median's logarithm
constexpr double kMostRests = 16;     // that a level is the mean of

std::size_t index_of(Arm arm) { return static_cast<std::size_t>(arm); }

}  // namespace

bool KnownArms::trusted() const {
  const double calls = std::min(native().calls(), ours(candidate).calls());
  return calls >= kTrusted || (calls >= kFewest && ratio().high < kMuchLess);
}

// By the logarithms: what calls take has a long tail, which a mean of few hardly tells.
Ratio KnownArms::ratio(int which) const {
  const MeanCost& native = costs.front();
  const MeanCost& ours = this->ours(which);
  if (native.calls() < 2 || ours.calls() < 2) return {kUnseen, 0, kUnseen};
  const double difference = ours.level() - native.level();
  // Few calls may be alike by chance: then they are taken to differ as much as those of the other arm.
  const double least = std::max({native.spread2(), ours.spread2(), kLeastSpread * kLeastSpread});
  const auto variance = [&](const MeanCost& arm) { return arm.variance(arm.calls() < kTrusted ? least : 0); };
  const double wide = kDeviations * std::sqrt(variance(native) + variance(ours));
  const double of_means = ours.mean_ns() / native.mean_ns();
  return {of_means, steady_exp(difference - wide), std::max(steady_exp(difference + wide), of_means)};
}

// Another takes its place where it is taken to be better by more than what is not sure, by calls of one cycle: earlier
// ones found connections and memory less ready, or the machine otherwise. Where our arm was not among them native's are
// between the two.
void KnownArms::choose_candidate(const KnownArms& of_cycle) {
  const int before = candidate;
  for (int rival = 0; rival < kCandidates; ++rival) {
    const MeanCost& theirs = of_cycle.ours(rival);
    const bool side_by_side = of_cycle.ours(candidate).calls() >= kFewest;
    const MeanCost& best = side_by_side ? of_cycle.ours(candidate) : ours(candidate);
    if (rival == candidate || best.calls() < kFewest || theirs.calls() < kFewest) continue;
    const double drift = side_by_side ? 0 : of_cycle.native().level() - native().level();
    const double difference = theirs.level() - best.level() - drift;
    const double least = std::max({theirs.spread2(), best.spread2(), kLeastSpread * kLeastSpread});
    const double unsure = kSurer * std::sqrt(theirs.variance(least) + best.variance(least));
    if (difference + std::max(unsure, kBetter) < 0) candidate = rival;
  }
  if (candidate != before) levels_[index_of(Arm::ours)] = {};
}

// Whether calls at rest take something else than they took: a cumulative sum of by how much (Page, Biometrika 1954),
// in standard errors of the median of so many calls.
RestCost KnownArms::note_rest(std::span<const SeenCall> rest, Arm arm) {
  Level& level = levels_[index_of(arm)];
  const MeanCost& in_trials = of(arm);
  if (level.rests == 0 && in_trials.calls() > 0) level = {in_trials.level(), 1};
  const double now = steady_log(median_of(rest, &SeenCall::cost_ns));
  const double error = std::max(1.25 * deviation(rest) / std::sqrt(static_cast<double>(rest.size())), kLeastError);
  const double off = level.rests == 0 ? 0 : now - level.mean;
  level.above = std::max(level.above + off / error - kSlack, 0.0);
  level.below = std::max(level.below - off / error - kSlack, 0.0);
  const bool changed = std::max(level.above, level.below) > kChanged;
  if (changed) level = {};
  ++level.rests;
  level.mean += (now - level.mean) / std::min<double>(level.rests, kMostRests);
  return {changed, changed ? steady_exp(std::max(off, 0.0)) : 1};
}

void KnownArms::doubt() {
  for (MeanCost& arm : costs) arm.fade(kDoubtful);
}

void KnownArms::forget() {
  costs = {};
  levels_ = {};
}

}  // namespace stretto
