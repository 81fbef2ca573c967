#include "select/adaptation.hpp"

#include <algorithm>
#include <cmath>

#include "core/steady_math.hpp"

namespace stretto {
namespace {

constexpr double kNarrow = 1;        // skew in terms of native's cost: below, ranks come together
constexpr double kFar = 16;          // from here on, far apart
constexpr double kBorder = 1.5;      // that such a limit is wide to each side
constexpr double kTrialCost = 0.01;  // what trials of native may cost, of what calls take
constexpr double kLookNs = 200;      // what it costs to measure a call
constexpr double kCaution = 0.8;     // of what is not sure, to the account

// Of calls: so that looks are at equal distances.
int whole_looks(int calls) { return calls / Adaptation::kLooks * Adaptation::kLooks; }

}  // namespace

ArrivalClass arrivals_of(double apart, ArrivalClass before) {
  const auto beyond = [&](double border, ArrivalClass above) {
    return apart > border * (before >= above ? 1 / kBorder : kBorder);
  };
  if (beyond(kFar, ArrivalClass::far_apart)) return ArrivalClass::far_apart;
  return beyond(kNarrow, ArrivalClass::uneven) ? ArrivalClass::uneven : ArrivalClass::balanced;
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
      summary.calls = std::min(summary.calls, KnownArms::kDoubtful);
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
  for (const SeenCall& call : rest) add(resting_, our_candidate_, without_loss(call, rest_median_ns));
  const double median_ns = median_of(trial, &SeenCall::cost_ns);
  for (std::size_t call = 1; call < trial.size(); ++call) {
    const auto at = static_cast<int>(call);
    const int candidate = candidate_of_trial(at);
    if (arm_of_trial(at) == arm_of_trial(at - 1) && candidate == candidate_of_trial(at - 1))
      add(arm_of_trial(at), candidate, without_loss(trial[call], median_ns));
  }
}

void Adaptation::learn(std::span<const SeenCall> seen, std::int64_t lesson_ns) {
  const std::size_t looks = seen.size() - static_cast<std::size_t>(trial_.calls());
  const auto trial = seen.subspan(looks);
  // The program's first calls make what later ones find there.
  const auto rest = seen.first(account_.is_new() && mode_ != Mode::listens ? 0 : looks);
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
  RestCost at_rest = rest.empty() ? RestCost{} : knowledge.note_rest(rest, resting_);
  const Ratio known = knowledge.ratio();
  const Ratio tried = of_cycle.ratio(knowledge.candidate);
  const bool has_tried = of_cycle.ours(knowledge.candidate).calls() > 1;
  const bool differs =
      are_ours && has_tried && knowledge.trusted() && (tried.low > known.high || tried.high < known.low);
  at_rest.changed = at_rest.changed || differs;
  if (at_rest.changed) knowledge.doubt();
  if (differs) knowledge.forget();
  note(rest, trial, knowledge, are_ours);
  knowledge.choose_candidate(of_cycle);
  if (knowledge.native_ns == 0 || sees_native) knowledge.native_ns = native_ns;
  since_trial_ = !trial.empty() ? 0 : since_trial_ + position_;
  const double at_least_ns = knowledge.native_ns * std::min(knowledge.ratio().value, 1.0);
  const double overhead_ns = static_cast<double>(lesson_ns) + kLooks * kLookNs;
  longest_rest_ =
      static_cast<int>(std::clamp(overhead_ns / (kOverhead * at_least_ns), 1.0 * kFirstRest, 1.0 * kLongestRest));
  if (mode_ != Mode::listens) charge(at_rest, trial);
  plan(knowledge, moved, at_rest);
}

// What ours took more than native's, which are as many: all calls of a trial are measured.
double Adaptation::excess_ns(std::span<const SeenCall> trial) const {
  const double median_ns = median_of(trial, &SeenCall::cost_ns);
  double more_ns = 0;
  for (std::size_t call = 0; call < trial.size(); ++call) {
    const double taken_ns = without_loss(trial[call], median_ns);
    more_ns += arm_of_trial(static_cast<int>(call)) == Arm::ours ? taken_ns : -taken_ns;
  }
  return more_ns;
}

// The cycle's calls, to the account. Ours are taken to have cost more than they seem to, by most of what is not sure:
// calls that happen to be cheap would pay for what is not. But of a trial it is known what they cost more: that counts,
// unless it is by chance less than what they seem to. It saves nothing.
void Adaptation::charge(const RestCost& rest, std::span<const SeenCall> trial) {
  Knowledge& knowledge = known_[static_cast<std::size_t>(class_)];
  const double native_ns = knowledge.native_ns;
  const MeanCost& native = knowledge.native();
  const bool trusted = knowledge.trusted();
  const double native_error = trusted ? steady_exp(KnownArms::kDeviations * std::sqrt(native.variance())) - 1 : 0;
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
  if (!trial.empty()) more = std::min(more, std::max({excess_ns(trial) / native_ns, -saved, 0.0}));
  if (resting_ == Arm::ours) add(position_ - trial_.calls(), our_candidate_, rest.dearer);
  // The mean of all that is remembered is less noisy than that of the latest trial, which follows drift.
  savings_.native_ns += (trusted ? native.mean_ns() : native_ns) * position_;
  if (trusted) {
    savings_.saved_ns += native.mean_ns() * saved;
    savings_.unsure_ns += native.mean_ns() * (unsure + std::abs(saved) * native_error);
  }
  account_.add(position_ * native_ns, native_ns * (knowledge.free > 0 ? std::min(more, 0.0) : more));
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
  if (knowledge.native().calls() >= KnownArms::kTrusted) return {kFirstRest, {1}};
  return {0, {std::min(soon_ ? kPairs : kMostPairs, knowledge.free / (2 * kBlock))}};
}

// Every other time with one of the others.
Adaptation::Trial Adaptation::later_trial(Knowledge& knowledge) const {
  const int number = knowledge.later_trials++;
  const int others = candidates() - 1;
  if (others == 0 || number % 2 == 0) return {1};
  return {1, kBlock, (knowledge.candidate + 1 + number / 2 % others) % candidates()};
}

void Adaptation::plan(Knowledge& knowledge, bool moved, const RestCost& before) {
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
Adaptation::Cycle Adaptation::wanted_cycle(Knowledge& knowledge, bool moved, const RestCost& before) const {
  const bool trusted = knowledge.trusted();
  const Ratio ratio = knowledge.ratio();
  const int rest =
      whole_looks(moved || before.changed ? shortest_rest() : std::clamp(2 * rest_, kFirstRest, longest_rest_));
  // Ours may have become dearer while native has not.
  const bool sure = ratio.high * before.dearer < (before.changed ? KnownArms::kMuchLess : 1);
  const double known =
      ratio.high < KnownArms::kMuchLess ? 1 : knowledge.ours(knowledge.candidate).calls() / MeanCost::kRemembered;
  const double try_every = known * std::max<double>(kTrialEvery, kBlock * (1 / ratio.value - 1) / kTrialCost);
  if (!trusted) return {rest, {kPairs}};
  if (knowledge.native().calls() < KnownArms::kTrusted) return {rest, {1}};
  return {rest, sure && since_trial_ + rest < try_every ? Trial{} : later_trial(knowledge)};
}

void Adaptation::plan_counted(const Knowledge& knowledge, const Cycle& wanted) {
  const bool trusted = knowledge.trusted();
  const Ratio ratio = knowledge.ratio();
  const auto affordable = [&](int calls, double ratio_at_most) {
    return calls * (ratio_at_most - 1) * knowledge.native_ns <= account_.budget_ns();
  };
  auto [rest, trial] = wanted;
  resting_ = Arm::native;
  if (trusted && ratio.value < 1) {
    const double at_most = std::max(ratio.high, KnownArms::kUnseen);
    while (rest > 0 && !affordable(2 * rest + waited_, at_most)) rest = whole_looks(rest / 2);
    if (rest > 0) resting_ = Arm::ours;
    if (rest == 0) trial = {kPairs};  // to come to savings soon
  }
  if (trial.first >= 0 && !affordable(kBlock, std::max(knowledge.ratio(trial.first).high, KnownArms::kUnseen)))
    trial = {trial.pairs};
  const double dearest = trusted ? ratio.high : std::max(ratio.value, KnownArms::kUnseen);
  while (resting_ == Arm::native && trial.pairs > 0 && !affordable(trial.pairs * kBlock, dearest)) --trial.pairs;
  if (rest == 0 && trial.pairs == 0) rest = kFirstRest;
  begin_cycle(rest, trial);
}

}  // namespace stretto
