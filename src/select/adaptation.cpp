#include "select/adaptation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/median.hpp"
#include "core/steady_math.hpp"

namespace stretto {
namespace {

constexpr double kNarrow = 1;         // skew in terms of native's cost: below, ranks come together
constexpr double kFar = 16;           // from here on, far apart
constexpr double kBorder = 1.5;       // that such a limit is wide to each side
constexpr double kDeviations = 3.3;   // that an interval is wide to each side
constexpr double kMostOfMedian = 4;   // what a core loses to others is none of the arm's cost
constexpr double kTrusted = 14;       // the same, to go by
constexpr double kFewest = 3;         // the same, where ours is much less
constexpr double kLeastSpread = 0.1;  // of few calls: standard deviation of the logarithms
constexpr double kDoubtful = 14;      // the same, that are left where something has changed
constexpr double kMuchLess = 0.8;     // ours, in terms of native: not in doubt
constexpr double kTrialCost = 0.01;   // what trials of native may cost, of what calls take
constexpr double kLookNs = 200;       // what it costs to measure a call
constexpr double kSurer = 1.0;        // deviations that a candidate must be better
constexpr double kBetter = 0.1;       // and by which part it must take less
constexpr double kCaution = 0.8;      // of what is not sure, to the account
constexpr double kUnseen = 2;         // what our arm may come to cost in terms of native's before that is seen
constexpr double kChanged = 6;        // the cumulative sum
constexpr double kSlack = 0.5;        // of it, a rest
constexpr double kLeastError = 0.1;   // of a median's logarithm
constexpr double kMostRests = 16;     // that a level is the mean of

using Arm = Adaptation::Arm;

std::size_t index_of(Arm arm) { return static_cast<std::size_t>(arm); }

double median_of(std::span<const SeenCall> calls, std::int64_t SeenCall::*of) {
  std::vector<std::int64_t> values;
  values.reserve(calls.size());
  for (const SeenCall& call : calls) values.push_back(call.*of);
  return std::max(static_cast<double>(median(values)), 1.0);
}

double cut(const SeenCall& call, double median_ns) {
  return std::clamp(static_cast<double>(call.cost_ns), 1.0, kMostOfMedian * median_ns);
}

double mean_cost(std::span<const SeenCall> calls) {
  const double median_ns = median_of(calls, &SeenCall::cost_ns);
  double sum = 0;
  for (const SeenCall& call : calls) sum += cut(call, median_ns);
  return sum / static_cast<double>(calls.size());
}

// Of the logarithms of the costs.
double deviation(std::span<const SeenCall> calls) {
  double sum = 0;
  double squares = 0;
  for (const SeenCall& call : calls) {
    const double value = steady_log(std::max(static_cast<double>(call.cost_ns), 1.0));
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(calls.size());
  return std::sqrt(std::max(squares - sum * sum / n, 0.0) / (n - 1));
}

// Of calls: so that looks are at equal distances.
int whole_looks(int calls) { return calls / Adaptation::kLooks * Adaptation::kLooks; }

}  // namespace

bool Adaptation::Knowledge::trusted() const {
  const double calls = std::min(native().calls(), ours(candidate).calls());
  return calls >= kTrusted || (calls >= kFewest && ratio().high < kMuchLess);
}

// By the logarithms: what calls take has a long tail, which a mean of few hardly tells.
Adaptation::Ratio Adaptation::Knowledge::ratio(int which) const {
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

ArrivalClass arrivals_of(double apart, ArrivalClass before) {
  const auto beyond = [&](double border, ArrivalClass above) {
    return apart > border * (before >= above ? 1 / kBorder : kBorder);
  };
  if (beyond(kFar, ArrivalClass::far_apart)) return ArrivalClass::far_apart;
  return beyond(kNarrow, ArrivalClass::uneven) ? ArrivalClass::uneven : ArrivalClass::balanced;
}

// Another takes its place where it is taken to be better by more than what is not sure, by calls of one cycle: earlier
// ones found connections and memory less ready, or the machine otherwise. Where our arm was not among them native's are
// between the two.
void Adaptation::Knowledge::choose_candidate(const Knowledge& of_cycle) {
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
  if (candidate != before) levels[index_of(Arm::ours)] = {};
}

void Adaptation::expect_native(double native_ns) {
  for (Knowledge& knowledge : known_) knowledge.native_ns = native_ns;
}

void Adaptation::recall(const Learnt& learnt) {
  for (std::size_t at = 0; at < kArrivalClasses; ++at) {
    Knowledge& knowledge = known_[at];
    knowledge.native_ns = learnt.classes[at].native_ns;
    knowledge.candidate = learnt.classes[at].candidate;
    for (std::size_t arm = 0; arm < knowledge.costs.size(); ++arm) {
      MeanCost::Summary summary = learnt.classes[at].costs[arm].summary();
      summary.calls = std::min(summary.calls, kDoubtful);
      knowledge.costs[arm] = MeanCost(summary);
    }
  }
  class_ = learnt.arrivals;
  is_class_known_ = true;
  const Knowledge& latest = known_[static_cast<std::size_t>(class_)];
  if (!latest.trusted()) return;
  if (mode_ == Mode::chooses) resting_ = latest.ratio().value < 1 ? Arm::ours : Arm::native;
  begin_cycle(kFirstRest, {1});
}

Adaptation::Learnt Adaptation::learnt() const {
  Learnt learnt{.arrivals = class_, .native_ns = savings_.native_ns};
  for (std::size_t at = 0; at < kArrivalClasses; ++at)
    learnt.classes[at] = {known_[at].costs, known_[at].candidate, known_[at].native_ns};
  return learnt;
}

void Adaptation::begin_cycle(int rest, const Trial& trial) {
  rest_ = rest;
  trial_ = trial;
  our_candidate_ = known_[static_cast<std::size_t>(class_)].candidate;
  position_ = 0;
  place();
}

// Native and ours in turn, in the order N O O N N O O N ...
Arm Adaptation::arm_of_trial(int call) const {
  return (call / trial_.block + 1) / 2 % 2 == 0 ? Arm::native : Arm::ours;
}

int Adaptation::candidate_of_trial(int call) const {
  return trial_.first < 0 ? our_candidate_ : (trial_.first + call / (2 * trial_.block)) % candidates();
}

void Adaptation::place() {
  const bool rests = position_ < rest_;
  const bool trial = !rests && position_ < rest_ + trial_.calls();
  arm_ = trial ? arm_of_trial(position_ - rest_) : resting_;
  candidate_ = trial ? candidate_of_trial(position_ - rest_) : our_candidate_;
  measured_ = trial || (rests && quiet() == 0);
}

// Looks are at the end of equal parts of a rest: the first call after a lesson finds its code cold.
int Adaptation::quiet() const {
  const int told = rest_ + trial_.calls();
  if (position_ >= told && !soon_) return kPatience - 1 - (position_ - told) % kPatience;
  if (position_ >= rest_) return 0;
  const int part = rest_ / kLooks;
  return part - 1 - position_ % part;
}

void Adaptation::skip(int calls) {
  if (arm_ == Arm::ours) ours_ += calls;
  position_ += calls;
  place();
}

Adaptation::Due Adaptation::pass(bool all_have_told) {
  if (quiet() > 0) {  // to whoever skips such calls nothing is due either
    skip(1);
    return Due::nothing;
  }
  if (arm_ == Arm::ours) ++ours_;
  ++position_;
  const int told = rest_ + trial_.calls();
  if (all_have_told && position_ >= told + learn_after_) return Due::lesson;  // which begins the next cycle
  place();
  return position_ == told ? Due::exchange : Due::nothing;
}

// The arms are compared by calls that are near to each other. Of a trial the first call after another arm finds its
// code cold, and the ranks as the other left them. `ours`: also what our arm took.
void Adaptation::note(std::span<const SeenCall> rest, std::span<const SeenCall> trial, Knowledge& knowledge,
                      bool ours) const {
  if (trial.empty()) return;
  const double rest_median_ns = rest.empty() ? 0 : median_of(rest, &SeenCall::cost_ns);
  const auto add = [&](Arm arm, int candidate, double cost_ns) {
    if (arm == Arm::native) knowledge.costs.front().add(cost_ns);
    if (arm == Arm::ours && ours) knowledge.ours(candidate).add(cost_ns);
  };
  for (const SeenCall& call : rest) add(resting_, our_candidate_, cut(call, rest_median_ns));
  const double median_ns = median_of(trial, &SeenCall::cost_ns);
  for (std::size_t call = 1; call < trial.size(); ++call) {
    const auto at = static_cast<int>(call);
    const int candidate = candidate_of_trial(at);
    if (arm_of_trial(at) == arm_of_trial(at - 1) && candidate == candidate_of_trial(at - 1))
      add(arm_of_trial(at), candidate, cut(trial[call], median_ns));
  }
}

// Whether calls at rest take something else than they took: a cumulative sum of by how much (Page, Biometrika 1954),
// in standard errors of the median of so many calls.
Adaptation::Rest Adaptation::note_rest(std::span<const SeenCall> rest, Knowledge& knowledge) const {
  Level& level = knowledge.levels[index_of(resting_)];
  const MeanCost& in_trials = knowledge.of(resting_);
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

void Adaptation::learn(std::span<const SeenCall> seen, std::int64_t lesson_ns) {
  const std::size_t looks = seen.size() - static_cast<std::size_t>(trial_.calls());
  const auto trial = seen.subspan(looks);
  // The program's first calls make what later ones find there.
  const auto rest = seen.first(native_total_ns_ == 0 && mode_ != Mode::listens ? 0 : looks);
  waited_ = position_ - rest_ - trial_.calls();
  Knowledge of_cycle;
  note(rest, trial, of_cycle, true);
  const bool sees_native = !trial.empty() || resting_ == Arm::native;
  const double native_ns = !trial.empty() ? of_cycle.native().mean_ns()
                           : sees_native  ? mean_cost(rest)
                                          : known_[static_cast<std::size_t>(class_)].native_ns;
  const ArrivalClass now = arrivals_of(median_of(seen, &SeenCall::skew_ns) / native_ns, class_);
  const bool moved = is_class_known_ && now != class_;
  const bool are_ours = now == class_ || !are_others_;  // what has served is what serves now
  class_ = now;
  is_class_known_ = true;
  Knowledge& knowledge = known_[static_cast<std::size_t>(now)];
  Rest at_rest = rest.empty() ? Rest{} : note_rest(rest, knowledge);
  const Ratio known = knowledge.ratio();
  const Ratio tried = of_cycle.ratio(knowledge.candidate);
  const bool has_tried = of_cycle.ours(knowledge.candidate).calls() > 1;
  const bool differs =
      are_ours && has_tried && knowledge.trusted() && (tried.low > known.high || tried.high < known.low);
  at_rest.changed = at_rest.changed || differs;
  if (at_rest.changed) {
    for (MeanCost& arm : knowledge.costs) arm.fade(kDoubtful);
  }
  if (differs) {
    knowledge.costs = {};
    knowledge.levels = {};
  }
  note(rest, trial, knowledge, are_ours);
  knowledge.choose_candidate(of_cycle);
  if (knowledge.native_ns == 0 || sees_native) knowledge.native_ns = native_ns;
  since_trial_ = !trial.empty() ? 0 : since_trial_ + position_;
  const double at_least_ns = knowledge.native_ns * std::min(knowledge.ratio().value, 1.0);
  const double overhead_ns = static_cast<double>(lesson_ns) + kLooks * kLookNs;
  longest_rest_ =
      static_cast<int>(std::clamp(overhead_ns / (kOverhead * at_least_ns), 1.0 * kFirstRest, 1.0 * kLongestRest));
  if (mode_ != Mode::listens) charge(at_rest);
  plan(knowledge, moved, at_rest);
}

// The cycle's calls, to the account. Ours are taken to have cost more than they seem to, by most of what is not sure:
// calls that happen to be cheap would pay for what is not.
void Adaptation::charge(const Rest& rest) {
  Knowledge& knowledge = known_[static_cast<std::size_t>(class_)];
  const double native_ns = knowledge.native_ns;
  const MeanCost& native = knowledge.native();
  const bool trusted = knowledge.trusted();
  const double native_error = trusted ? steady_exp(kDeviations * std::sqrt(native.variance())) - 1 : 0;
  double more = 0;   // of native calls: what ours are taken to have cost more
  double saved = 0;  // what they seem to have cost less
  double unsure = 0;
  const auto add = [&](int calls, int candidate, double dearer) {
    const Ratio ratio = knowledge.ratio(candidate);
    const double taken = ratio.value + kCaution * (ratio.high - ratio.value);
    more += calls * ((trusted ? taken : std::max(taken, 1.0)) * dearer - 1);  // few calls pay for nothing
    saved += calls * (1 - ratio.value * dearer);
    unsure += calls * dearer * (ratio.high - ratio.value);
  };
  for (int pair = 0; pair < trial_.pairs; ++pair) add(trial_.block, candidate_of_trial(2 * trial_.block * pair), 1);
  if (resting_ == Arm::ours) add(position_ - trial_.calls(), our_candidate_, rest.dearer);
  // The mean of all that is remembered is less noisy than that of the latest trial, which follows drift.
  savings_.native_ns += (trusted ? native.mean_ns() : native_ns) * position_;
  if (trusted) {
    savings_.saved_ns += native.mean_ns() * saved;
    savings_.unsure_ns += native.mean_ns() * (unsure + std::abs(saved) * native_error);
  }
  owed_ns_ += native_ns * (knowledge.free > 0 ? std::min(more, 0.0) : more);
  native_total_ns_ += position_ * native_ns;
  knowledge.free = std::max(knowledge.free - position_, 0);
}

// Within the calls that are not counted: where lessons come late there are not many. Where nothing is known a few may
// tell all, and of candidates that turn out to be dear few are enough. After these native is known, and what is in
// doubt is ours: the arm that seems to be the better rests.
Adaptation::Cycle Adaptation::first_cycle(const Knowledge& knowledge) const {
  if (knowledge.native().calls() == 0) return {0, {1, kProbe}};
  const int next = (knowledge.candidate + 1) % candidates();
  for (const int candidate : {knowledge.candidate, next}) {
    if (knowledge.ours(candidate).calls() == 0) return {0, {candidates(), kTurn, knowledge.candidate}};
  }
  if (knowledge.native().calls() >= kTrusted) return {kFirstRest, {1}};
  return {0, {std::min(soon_ ? kPairs : kMostPairs, knowledge.free / (2 * kBlock))}};
}

// Every other time with one of the others.
Adaptation::Trial Adaptation::later_trial(Knowledge& knowledge) const {
  const int number = knowledge.later_trials++;
  const int others = candidates() - 1;
  if (others == 0 || number % 2 == 0) return {1};
  return {1, kBlock, (knowledge.candidate + 1 + number / 2 % others) % candidates()};
}

void Adaptation::plan(Knowledge& knowledge, bool moved, const Rest& before) {
  if (mode_ == Mode::listens) return begin_cycle(wanted_cycle(knowledge, moved, before).rest, {});
  const bool trusted = knowledge.trusted();
  const bool in_doubt = !trusted || !knowledge.ratio().is_clear();
  const bool is_free = knowledge.free >= 2 * kBlock * kPairs;
  if (in_doubt && is_free) {
    // What is new is tried once it has been seen to stay.
    if (moved && !trusted) return begin_cycle(kFirstRest, {});
    const Cycle cycle = first_cycle(knowledge);
    if (mode_ == Mode::chooses) resting_ = cycle.rest > 0 && knowledge.ratio().value < 1 ? Arm::ours : Arm::native;
    return begin_cycle(cycle.rest, cycle.trial);
  }
  const Cycle wanted = wanted_cycle(knowledge, moved, before);
  if (knowledge.free >= kLooks && !in_doubt && mode_ == Mode::chooses) {  // nothing need have been saved for it
    resting_ = knowledge.ratio().value < 1 ? Arm::ours : Arm::native;
    return begin_cycle(std::min(wanted.rest, whole_looks(knowledge.free)), is_free ? wanted.trial : Trial{});
  }
  knowledge.free = 0;
  if (mode_ == Mode::watches) return begin_cycle(wanted.rest, wanted.trial);
  plan_counted(knowledge, wanted);
}

// Were nothing promised.
Adaptation::Cycle Adaptation::wanted_cycle(Knowledge& knowledge, bool moved, const Rest& before) const {
  const bool trusted = knowledge.trusted();
  const Ratio ratio = knowledge.ratio();
  const int rest =
      whole_looks(moved || before.changed ? shortest_rest() : std::clamp(2 * rest_, kFirstRest, longest_rest_));
  // Ours may have become dearer while native has not.
  const bool sure = ratio.high * before.dearer < (before.changed ? kMuchLess : 1);
  const double known = ratio.high < kMuchLess ? 1 : knowledge.ours(knowledge.candidate).calls() / MeanCost::kRemembered;
  const double try_every = known * std::max<double>(kTrialEvery, kBlock * (1 / ratio.value - 1) / kTrialCost);
  if (!trusted) return {rest, {kPairs}};
  if (knowledge.native().calls() < kTrusted) return {rest, {1}};
  return {rest, sure && since_trial_ + rest < try_every ? Trial{} : later_trial(knowledge)};
}

void Adaptation::plan_counted(const Knowledge& knowledge, const Cycle& wanted) {
  const bool trusted = knowledge.trusted();
  const Ratio ratio = knowledge.ratio();
  const auto affordable = [&](int calls, double ratio_at_most) {
    return calls * (ratio_at_most - 1) * knowledge.native_ns <= budget_ns();
  };
  auto [rest, trial] = wanted;
  resting_ = Arm::native;
  if (trusted && ratio.value < 1) {
    const double at_most = std::max(ratio.high, kUnseen);
    while (rest > 0 && !affordable(2 * rest + waited_, at_most)) rest = whole_looks(rest / 2);
    if (rest > 0) resting_ = Arm::ours;
    if (rest == 0) trial = {kPairs};  // to come to savings soon
  }
  if (trial.first >= 0 && !affordable(kBlock, std::max(knowledge.ratio(trial.first).high, kUnseen)))
    trial = {trial.pairs};
  const double dearest = trusted ? ratio.high : std::max(ratio.value, kUnseen);
  while (resting_ == Arm::native && trial.pairs > 0 && !affordable(trial.pairs * kBlock, dearest)) --trial.pairs;
  if (rest == 0 && trial.pairs == 0) rest = kFirstRest;
  begin_cycle(rest, trial);
}

}  // namespace stretto
