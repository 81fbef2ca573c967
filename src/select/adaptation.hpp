// Adaptation: which of two arms serves calls of a kind, the MPI library's own or Stretto's, by what both have taken.
//
// A conservative bandit (Wu, Shariff, Lattimore, Szepesvari: Conservative Bandits, ICML 2016): native is the arm that
// the promise is measured by. Stretto's is played where it is taken to be cheaper, and only as long as all calls
// together, were it dearer by most of what is not sure, cost at most 1 + kBehind of what native would have.
// What is not counted is what the calls cost that learn what both cost, the first time that ranks arrive in such a way.
//
// The first calls of all are Stretto's, as the rule has it, so that a program of few calls does not pay for a lesson.
// The lesson comes within the first hundred. It begins with a short trial: where Stretto's takes half, that tells.
//
// Calls go in cycles. In a cycle they rest on one arm, some of them measured; then may come a trial, pairs of blocks
// with either arm, so that what drifts in the program cancels. Then the ranks tell each other what they have seen of
// the measured calls, and learn of it as soon as nobody has to be waited for. While nothing changes trials are seldom
// and rests grow longer, until what lessons take is kOverhead of what the calls do.
//
// Stretto's arm is one of a few candidates, the first of which is predicted to be the best. Where that does not win at
// once all are tried in turn, and the best of them is what competes with native; later trials are every other time with
// one of the others.
//
// How the arms compare depends on how ranks arrive, so what is known is kept by arrival class.
//
// A function of what it is told, in IEEE's basic operations: ranks that are told the same choose the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "select/known_arms.hpp"
#include "select/promise_account.hpp"
#include "select/seen_calls.hpp"

namespace stretto {

/// How far apart ranks arrive, measured by what a native call takes: the MIF of Alizadeh 2021, 7.2.6.
enum class ArrivalClass : std::uint8_t { balanced, uneven, far_apart };
inline constexpr std::size_t kArrivalClasses = 3;
/// Of ranks that are so far apart, in terms of what a native call takes; about at a border they stay on the side where
/// they were `before`.
ArrivalClass arrivals_of(double apart, ArrivalClass before = ArrivalClass::balanced);

class Adaptation {
 public:
  using Arm = stretto::Arm;

  static constexpr double kBehind = 0.01;     // of native's total
  static constexpr double kOverhead = 0.005;  // the same
  static constexpr int kBlock = 8;            // calls
  static constexpr int kProbe = 4;            // the same, where nothing is known
  static constexpr int kTurn = 6;             // the same, where all candidates have their turn
  static constexpr int kPairs = 2;            // of blocks, where too little is known
  static constexpr int kMostPairs = 4;        // the same, where lessons come late
  static constexpr int kFree = 100;           // calls under each arrival class whose cost is not counted
  static constexpr int kFirstRest = 16;       // calls
  static constexpr int kLongestRest = 1024;   // calls
  static constexpr int kTrialEvery = 512;     // calls, where nothing changes and enough is known
  static constexpr int kPatience = 4;         // calls, from one question whether a late lesson may come to the next
  static constexpr int kLooks = 8;            // measured calls of a rest
  static constexpr std::size_t kMostMeasured = 2 * kBlock * kMostPairs + kLooks;  // calls of a cycle

  using Costs = KnownArms::Costs;
  /// What is known of the arms under one arrival class.
  struct LearntOfClass {
    Costs costs{};
    int candidate = 0;     // that is Stretto's arm
    double native_ns = 0;  // of a call
  };
  /// The same of all, for a later run to begin with.
  struct Learnt {
    std::array<LearntOfClass, kArrivalClasses> classes{};
    ArrivalClass arrivals = ArrivalClass::balanced;  // the latest
    double native_ns = 0;                            // of all calls that this is of
  };

  enum class Mode : std::uint8_t {
    chooses,
    watches,  // Stretto's arm serves all calls but those of trials, whatever these say
    listens   // Stretto's arm serves all calls; how ranks come is all that is learnt
  };
  /// How many calls after its measured calls a lesson comes: what was told in memory is there, what goes by messages
  /// has arrived by then, or does so as soon as anybody waits.
  static constexpr int kInMemory = 1;
  static constexpr int kByMessages = 4;
  /// A lesson comes so many calls after its measured calls, or later: see pass(). `soon`: no later.
  explicit Adaptation(int learn_after, bool soon = true, Mode mode = Mode::chooses)
      : learn_after_(learn_after), soon_(soon), mode_(mode) {
    begin_cycle(shortest_rest(), mode == Mode::listens ? Trial{} : Trial{1, kProbe});
  }
  /// Before the first call: what a native one is taken to cost, until one has been seen.
  void expect_native(double native_ns);
  /// The same: of how many candidates Stretto's arm may be one, by arrival class, and whether these are others for
  /// each. Whoever does not choose has the first.
  void choose_among(const std::array<int, kArrivalClasses>& candidates, bool are_others) {
    if (mode_ == Mode::chooses) candidates_ = candidates;
    are_others_ = are_others;
  }
  /// Before the first call: goes by what an earlier run has learnt, which counts little, as it may have changed.
  void recall(const Learnt& learnt);
  Learnt learnt() const;

  /// Of the present call.
  Arm arm() const { return arm_; }
  /// Which of the candidates Stretto's arm is, from 0.
  int candidate() const { return candidate_; }
  bool is_measured() const { return measured_; }
  /// This call and those after it, as many, are the arm's, not measured, and nothing need be due after them.
  int quiet() const;
  /// So many of them are over.
  void skip(int calls);

  enum class Due : std::uint8_t {
    nothing,
    exchange,  // of what was measured since the latest lesson
    lesson     // learn()
  };
  /// The present call is over. `all_have_told`: no rank has to be waited for to learn what was exchanged.
  Due pass(bool all_have_told);
  /// What the exchange has brought, of all measured calls of the cycle, in order; and what a lesson takes a rank.
  void learn(std::span<const SeenCall> seen, std::int64_t lesson_ns);

  /// As the latest lesson has it.
  ArrivalClass arrivals() const { return class_; }
  /// Calls of Stretto's arm.
  std::int64_t ours() const { return ours_; }
  /// What all calls that were learnt of would have taken natively, by how much less they are taken to have cost, and by
  /// how much that may be wrong to either side.
  struct Savings {
    double native_ns = 0;
    double saved_ns = 0;
    double unsure_ns = 0;
  };
  Savings savings() const { return savings_; }

 private:
  // Of one arrival class.
  struct Knowledge : KnownArms {
    int free = kFree;  // calls whose cost is not counted yet
    int later_trials = 0;
  };

  struct Trial {
    int pairs = 0;       // of blocks
    int block = kBlock;  // calls
    int first = -1;      // candidate of the first pair, those after it in turn; none: all are with our arm
    int calls() const { return 2 * block * pairs; }
  };
  struct Cycle {
    int rest = 0;  // calls
    Trial trial;
  };
  // Whoever only listens has nothing to lose by a lesson but what it takes.
  int shortest_rest() const { return mode_ == Mode::listens ? kLooks : kFirstRest; }
  void begin_cycle(int rest, const Trial& trial);
  void place();
  Arm arm_of_trial(int call) const;
  int candidate_of_trial(int call) const;
  int candidates() const { return candidates_[static_cast<std::size_t>(class_)]; }
  void note(std::span<const SeenCall> rest, std::span<const SeenCall> trial, Knowledge& knowledge, bool ours) const;
  double excess_ns(std::span<const SeenCall> trial) const;
  void charge(const RestCost& rest, std::span<const SeenCall> trial);
  Cycle first_cycle(const Knowledge& knowledge) const;
  void plan(Knowledge& knowledge, bool moved, const RestCost& before);
  Cycle wanted_cycle(Knowledge& knowledge, bool moved, const RestCost& before) const;
  Trial later_trial(Knowledge& knowledge) const;
  void plan_counted(const Knowledge& knowledge, const Cycle& wanted);

  const int learn_after_;
  const bool soon_;
  const Mode mode_;
  // Of the cycle, in calls.
  int rest_ = 0;
  Trial trial_;
  int position_ = 0;
  int waited_ = 0;       // in the latest, for its lesson
  int since_trial_ = 0;  // of cycles before
  int longest_rest_ = kFirstRest;
  Arm resting_ = Arm::ours;
  int our_candidate_ = 0;  // of this cycle
  // Of the present call.
  Arm arm_ = Arm::native;
  int candidate_ = 0;
  bool measured_ = false;

  std::array<int, kArrivalClasses> candidates_{1, 1, 1};
  bool are_others_ = false;

  std::array<Knowledge, kArrivalClasses> known_{};  // by arrival class
  ArrivalClass class_ = ArrivalClass::balanced;
  bool is_class_known_ = false;
  std::int64_t ours_ = 0;
  // With a third of what is promised, and as much for debts: what is known of both arms are estimates.
  PromiseAccount account_{kBehind / 3};
  Savings savings_;
};

}  // namespace stretto
