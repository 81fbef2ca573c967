#include "select/adaptation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/median.hpp"

namespace stretto {
namespace {

constexpr double kNarrow = 1;        // skew in terms of native's cost: below, ranks come together
constexpr double kFar = 16;          // from here on, far apart
constexpr double kDeviations = 3;    // that the interval is wide to each side
constexpr double kMostOfMedian = 8;  // what a core loses to others is none of the arm's cost
constexpr double kUnseen = 2;        // what our arm may come to cost in terms of native's before that is seen
constexpr double kChanged = 1.5;     // what calls at rest take, in terms of what they took

double median_of(std::span<const SeenCall> calls, std::int64_t SeenCall::*of) {
  std::vector<std::int64_t> values;
  values.reserve(calls.size());
  for (const SeenCall& call : calls) values.push_back(call.*of);
  return static_cast<double>(median(values));
}

double mean_cost(std::span<const SeenCall> calls) {
  const double most = kMostOfMedian * std::max(median_of(calls, &SeenCall::cost_ns), 1.0);
  double sum = 0;
  for (const SeenCall& call : calls) sum += std::clamp(static_cast<double>(call.cost_ns), 0.0, most);
  return std::max(sum / static_cast<double>(calls.size()), 1.0);
}

int whole_looks(int calls) { return calls / Adaptation::kLooks * Adaptation::kLooks; }

}  // namespace

void Adaptation::Knowledge::add(Pair pair) {
  pairs[count++ % kMostPairs] = pair;
  const std::size_t kept = std::min(count, kMostPairs);
  native_ns = 0;
  for (std::size_t i = 0; i < kept; ++i) native_ns += pairs[i].native / static_cast<double>(kept);
}

// The ratio of the sums; it deviates by what each pair leaves over (Cochran, Sampling Techniques, 1977, 6.4).
Adaptation::Ratio Adaptation::Knowledge::ratio() const {
  const std::size_t kept = std::min(count, kMostPairs);
  double native = 0;
  double ours = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    native += pairs[i].native;
    ours += pairs[i].ours;
  }
  const double value = ours / native;
  double squares = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const double left_over = pairs[i].ours - value * pairs[i].native;
    squares += left_over * left_over;
  }
  const auto n = static_cast<double>(kept);
  return {value, value + kDeviations * std::sqrt(squares * n / (n - 1)) / native};
}

void Adaptation::begin_cycle(int rest, int pairs) {
  rest_ = rest;
  trial_ = 2 * kBlock * pairs;
  position_ = 0;
  place();
}

// Native and ours in turn, in the order N O O N N O O N ...
Adaptation::Arm Adaptation::arm_of_trial(int call) {
  return (call / kBlock + 1) / 2 % 2 == 0 ? Arm::native : Arm::ours;
}

void Adaptation::place() {
  const bool rests = position_ < rest_;
  const bool trial = !rests && position_ < rest_ + trial_;
  const bool waits_for_first_lesson = !rests && free_;
  arm_ = trial ? arm_of_trial(position_ - rest_) : waits_for_first_lesson ? Arm::native : resting_;
  measured_ = trial || (rests && position_ % (rest_ / kLooks) == 0);
}

Adaptation::Due Adaptation::pass() {
  if (arm_ == Arm::ours) ++ours_;
  ++position_;
  if (position_ == rest_ + trial_ + learn_after_) return Due::lesson;  // which begins the next cycle
  place();
  return position_ == rest_ + trial_ ? Due::exchange : Due::nothing;
}

// What the blocks of a trial took. The first call after another arm finds its code cold, and the ranks as the other
// left them.
void Adaptation::note_trial(std::span<const SeenCall> trial, Knowledge& knowledge) {
  for (std::size_t first = 0; first < trial.size(); first += std::size_t{2} * kBlock) {
    const double one = mean_cost(trial.subspan(first + 1, kBlock - 1));
    const double other = mean_cost(trial.subspan(first + kBlock + 1, kBlock - 1));
    const bool native_first = arm_of_trial(static_cast<int>(first)) == Arm::native;
    knowledge.add(native_first ? Pair{one, other} : Pair{other, one});
  }
}

// Whether calls at rest take something else than they took.
bool Adaptation::note_rest(double cost_ns, Knowledge& knowledge) const {
  double& known = knowledge.rest_ns[static_cast<std::size_t>(resting_)];
  const bool changed = known > 0 && (cost_ns > kChanged * known || known > kChanged * cost_ns);
  known = known > 0 && !changed ? (3 * known + cost_ns) / 4 : cost_ns;
  return changed;
}

void Adaptation::learn(std::span<const SeenCall> seen, std::int64_t exchange_ns) {
  const auto looks = seen.size() - static_cast<std::size_t>(trial_);
  const double rest_cost = looks > 0 ? mean_cost(seen.first(looks)) : 0;
  Knowledge trial;
  note_trial(seen.subspan(looks), trial);
  const Knowledge& before = known_[static_cast<std::size_t>(class_)];
  const bool sees_native = trial.count > 0 || resting_ == Arm::native;
  const double native_ns = trial.count > 0 ? trial.native_ns : sees_native ? rest_cost : before.native_ns;
  const double apart = median_of(seen, &SeenCall::skew_ns) / native_ns;
  const ArrivalClass now = apart < kNarrow ? ArrivalClass::balanced
                           : apart < kFar  ? ArrivalClass::uneven
                                           : ArrivalClass::far_apart;
  bool changed = now != class_;
  class_ = now;
  Knowledge& knowledge = known_[static_cast<std::size_t>(now)];
  if (looks > 0 && note_rest(std::max(median_of(seen.first(looks), &SeenCall::cost_ns), 1.0), knowledge)) {
    knowledge.count = 0;
    changed = true;
  }
  for (std::size_t i = 0; i < trial.count; ++i) knowledge.add(trial.pairs[i]);
  if (trial.count == 0 && (sees_native || knowledge.count == 0)) knowledge.native_ns = native_ns;
  since_trial_ = trial.count > 0 ? 0 : since_trial_ + position_;
  longest_rest_ = static_cast<int>(
      std::clamp(static_cast<double>(exchange_ns) / (kOverhead * native_ns), 1.0 * kFirstRest, 1.0 * kLongestRest));
  charge(trial, native_ns, rest_cost);
  plan(knowledge, changed);
}

// The cycle's calls, to the account. Those that no look fell on are taken to have cost what the others did, and not
// less than is sure: looks that happen to be cheap would pay for what is not.
void Adaptation::charge(const Knowledge& trial, double native_ns, double rest_cost) {
  if (free_) return;
  native_total_ns_ += position_ * native_ns;
  for (std::size_t i = 0; i < trial.count; ++i) owed_ns_ += kBlock * (trial.pairs[i].ours - trial.pairs[i].native);
  if (resting_ == Arm::native) return;
  const Knowledge& knowledge = known_[static_cast<std::size_t>(class_)];
  const Ratio ratio = knowledge.count > 1 ? knowledge.ratio() : Ratio{1, 1};
  const double costs = std::max(rest_cost / native_ns, (ratio.value + ratio.high) / 2);
  owed_ns_ += (rest_ + learn_after_) * native_ns * (costs - 1);
}

void Adaptation::plan(Knowledge& knowledge, bool changed) {
  free_ = !knowledge.tried && !knowledge.trusted();
  knowledge.tried = true;
  if (free_) {
    resting_ = Arm::native;
    return begin_cycle(0, kFirstPairs);
  }
  const bool trusted = knowledge.trusted();
  const Ratio ratio = knowledge.count > 1 ? knowledge.ratio() : Ratio{kUnseen, kUnseen};
  const auto affordable = [&](int calls, double ratio_at_most) {
    return calls * (ratio_at_most - 1) * knowledge.native_ns <= budget_ns();
  };
  int rest = whole_looks(changed ? kFirstRest : std::clamp(2 * rest_, kFirstRest, longest_rest_));
  const bool sure = !changed && ratio.high < 1;
  int pairs = !trusted ? kFirstPairs : sure && since_trial_ + rest < kTrialEvery ? 0 : 1;
  resting_ = Arm::native;
  if (trusted && ratio.value < 1) {
    const double at_most = std::max(ratio.high, kUnseen);
    while (rest > 0 && !affordable(rest + learn_after_, at_most)) rest = whole_looks(rest / 2);
    if (rest > 0) resting_ = Arm::ours;
    if (rest == 0) pairs = kFirstPairs;  // to come to savings soon
  }
  const double dearest = trusted ? ratio.high : std::max(ratio.value, kUnseen);
  while (resting_ == Arm::native && pairs > 0 && !affordable(pairs * kBlock, dearest)) --pairs;
  if (rest == 0 && pairs == 0) rest = kFirstRest;
  begin_cycle(rest, pairs);
}

}  // namespace stretto
