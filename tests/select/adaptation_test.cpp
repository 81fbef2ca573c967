// Adaptation: seeded programs of 10 000 calls, whose arrivals change every 500; what native and Stretto's algorithm
// take under each pattern is given, with noise, and hidden from the one that chooses.

#include "select/adaptation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "select/earlier_runs.hpp"
#include "select/sight_view.hpp"

namespace stretto {
namespace {

constexpr int kCalls = 10'000;
constexpr int kSame = 500;  // calls

// How ranks arrive, and what calls then take.
struct Pattern {
  double skew_ns;
  double native_ns;
  double ours_ns;
  std::vector<double> rivals_ns{};  // what Stretto's other candidates take
};

struct Outcome {
  double played = 0;  // of what native takes, in all
  double oracle = 0;  // the same of the better arm in each pattern
  double worst = 0;   // played so far to native so far, at the worst moment
  std::int64_t ours = 0;
  std::int64_t early_ours = 0;  // of the first 100 calls
  Adaptation::Learnt learnt;
  double saved_ns = 0;  // by which all calls cost less than native
  double native_ns = 0;
  Adaptation::Savings says;
};

// What the first calls under each pattern cost more is not counted in `worst`: there it is learnt what they cost.
constexpr int kUncounted = 100;

// Ranks that share their memory learn soon, others later.
constexpr int kSoon = Adaptation::kInMemory;
constexpr int kLater = Adaptation::kByMessages;

// How the calls are, and what chooses.
struct Setting {
  Adaptation adaptation{kSoon};
  double deviation = 0.3;  // of the logarithm of what calls take
  double drifts = 0;       // by which part native and ours become slower and faster together, all the time
  std::int64_t lesson_ns = 500;
};

Outcome run(const std::vector<Pattern>& patterns, std::uint64_t seed, const Setting& setting = {}) {
  const double deviation = setting.deviation;
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> noise(-deviation * deviation / 2, deviation);  // mean 1
  std::bernoulli_distribution preempted(0.005);
  Adaptation adaptation = setting.adaptation;
  std::vector<SeenCall> seen, told;
  std::vector<int> calls_under(patterns.size());
  std::size_t pattern = 0;
  double native = 0, played = 0, best = 0, excess = 0;
  Outcome outcome;
  for (int call = 0; call < kCalls; ++call) {
    if (call % kSame == 0) pattern = random() % patterns.size();
    const Pattern& now = patterns[pattern];
    const double drift = 1 + setting.drifts * std::sin(call / 300.0);
    const double native_takes = drift * now.native_ns;
    const auto candidate = static_cast<std::size_t>(adaptation.candidate());
    const double ours_takes = candidate == 0 ? now.ours_ns : now.rivals_ns.at(candidate - 1);
    const double takes = adaptation.arm() == Adaptation::Arm::ours ? drift * ours_takes : native_takes;
    if (adaptation.is_measured()) {
      const double seen_ns = takes * noise(random) * (preempted(random) ? 30 : 1);
      seen.push_back({static_cast<std::int64_t>(now.skew_ns * noise(random)), static_cast<std::int64_t>(seen_ns)});
    }
    native += native_takes;
    played += takes;
    double least = std::min(now.native_ns, now.ours_ns);
    for (const double rival_ns : now.rivals_ns) least = std::min(least, rival_ns);
    best += drift * least;
    if (call + 1 == 100) outcome.early_ours = adaptation.ours();
    const double more = takes - native_takes;
    excess += ++calls_under[pattern] > kUncounted ? more : std::min(more, 0.0);
    outcome.worst = std::max(outcome.worst, 1 + excess / native);
    switch (adaptation.pass(true)) {
      case Adaptation::Due::nothing:
        break;
      case Adaptation::Due::exchange:
        told.swap(seen);
        seen.clear();
        break;
      case Adaptation::Due::lesson:
        adaptation.learn(told, setting.lesson_ns);
        break;
    }
  }
  outcome.played = played / native;
  outcome.oracle = best / native;
  outcome.ours = adaptation.ours();
  outcome.learnt = adaptation.learnt();
  outcome.saved_ns = native - played;
  outcome.native_ns = native;
  outcome.says = adaptation.savings();
  return outcome;
}

constexpr int kSeeds = 100;

// Of how many runs the promise was broken, and by how much at worst.
struct Promise {
  int broken = 0;
  double worst = 0;
};
Promise run_programs(const Setting& setting) {
  const std::vector<std::vector<Pattern>> programs = {
      {{100, 1000, 1100}, {5000, 1000, 500}, {50'000, 1200, 300}},  // better where ranks are uneven
      {{100, 1000, 2000}},                                          // never better
      {{100, 1000, 1100}},
      {{100, 1000, 600}},  // always
      {{100, 1000, 990}},  // by what no noise lets anybody see
      {{100, 1000, 1020}},
      {{5000, 1000, 1500}, {50'000, 1000, 700}},
      {{100, 1000, 500}, {100, 1000, 2000}},  // which the arrivals do not tell
  };
  Promise promise;
  for (const std::vector<Pattern>& program : programs) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = run(program, static_cast<std::uint64_t>(seed), setting);
      promise.worst = std::max(promise.worst, outcome.worst);
      if (outcome.worst > 1 + Adaptation::kBehind) ++promise.broken;
    }
  }
  return promise;
}

TEST(Adaptation, IsNeverMoreThanAPercentBehind) {
  const Promise promise = run_programs({.deviation = 0.3});
  EXPECT_EQ(promise.broken, 0) << "of 800 runs, at worst " << promise.worst;
}

// Calls of some us on ranks that share cores: what they take differs by as much as here.
TEST(Adaptation, IsSeldomMoreBehindWhereCallsDifferALot) {
  const Promise promise = run_programs({.deviation = 0.7});
  EXPECT_LE(promise.broken, 8) << "of 800 runs, at worst " << promise.worst;
}

TEST(Adaptation, IsNotLedAstrayByDrift) {
  const Promise promise = run_programs({.deviation = 0.3, .drifts = 0.5});
  EXPECT_LE(promise.broken, 2) << "of 800 runs, at worst " << promise.worst;
}

TEST(Adaptation, TakesUpWhatIsBetter) {
  for (const int learn_after : {kSoon, kLater}) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = run({{100, 1000, 600}}, static_cast<std::uint64_t>(seed), {Adaptation(learn_after)});
      EXPECT_GE(outcome.ours, kCalls * 7 / 10) << "seed " << seed;
      EXPECT_LE(outcome.played, 0.72) << "seed " << seed;
    }
  }
}

Adaptation among_three(int learn_after = kSoon) {
  Adaptation adaptation(learn_after, learn_after == kSoon);
  adaptation.choose_among({3, 3, 3}, false);
  return adaptation;
}

// Whether the first, the second or the third of Stretto's is the best.
TEST(Adaptation, TakesUpTheBestCandidate) {
  const std::vector<Pattern> programs = {{100, 1000, 1100, {600, 1500}},
                                         {100, 1000, 1100, {1500, 600}},
                                         {100, 1000, 900, {600, 1000}},
                                         {100, 1000, 600, {900, 1200}},
                                         {100, 1000, 600, {2000, 3000}}};
  for (const int learn_after : {kSoon, kLater}) {
    for (const Pattern& program : programs) {
      double played = 0;
      for (int seed = 0; seed < kSeeds; ++seed)
        played += run({program}, static_cast<std::uint64_t>(seed), {among_three(learn_after)}).played / kSeeds;
      EXPECT_LE(played, 0.8) << program.ours_ns << " " << program.rivals_ns.front()
                             << ": half of what there is to gain";
    }
  }
}

TEST(Adaptation, KeepsThePromiseAmongCandidates) {
  const std::vector<std::vector<Pattern>> programs = {{{100, 1000, 1100, {1200, 2000}}},
                                                      {{100, 1000, 990, {1020, 1500}}},
                                                      {{100, 1000, 600, {2000, 3000}}},
                                                      {{100, 1000, 2000, {1100, 600}}},
                                                      {{100, 1000, 500, {900, 1200}}, {100, 1000, 2000, {900, 1100}}}};
  int broken = 0;
  double worst = 0;
  for (const std::vector<Pattern>& program : programs) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = run(program, static_cast<std::uint64_t>(seed), {among_three()});
      worst = std::max(worst, outcome.worst);
      if (outcome.worst > 1 + Adaptation::kBehind) ++broken;
    }
  }
  EXPECT_EQ(broken, 0) << "of 500 runs, at worst " << worst;
}

TEST(Adaptation, LeavesWhatIsWorse) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    EXPECT_LE(run({{100, 1000, 2000}}, static_cast<std::uint64_t>(seed)).ours, kCalls / 50) << "seed " << seed;
  }
}

// The oracle knows the pattern from its first call on.
TEST(Adaptation, FollowsTheArrivals) {
  double gain = 0, possible = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome =
        run({{100, 1000, 1100}, {5000, 1000, 500}, {50'000, 1200, 300}}, static_cast<std::uint64_t>(seed));
    gain += 1 - outcome.played;
    possible += 1 - outcome.oracle;
  }
  EXPECT_GE(gain, 0.75 * possible) << "of what the oracle gains";
}

TEST(Adaptation, SaysWhatItHasSavedAsSurelyAsItDoes) {
  EXPECT_EQ(Adaptation(kSoon).savings().saved_ns, 0);
  double saved = 0, says = 0, unsure = 0;
  int outside = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome = run({{100, 1000, 600}}, static_cast<std::uint64_t>(seed));
    saved += outcome.saved_ns;
    says += outcome.says.saved_ns;
    unsure += outcome.says.unsure_ns;
    if (std::abs(outcome.says.saved_ns - outcome.saved_ns) > outcome.says.unsure_ns) ++outside;
    EXPECT_NEAR(outcome.says.native_ns, outcome.native_ns, 0.3 * outcome.native_ns);
  }
  EXPECT_LE(outside, kSeeds / 20);
  EXPECT_NEAR(says, saved, 0.15 * saved);
  EXPECT_LE(unsure, 0.5 * saved) << "it says nothing";
}

// Whoever only watches has what the rule has, but for trials, and is told what that is worth.
TEST(Adaptation, WatchesWhatStrettoSavesAndCosts) {
  for (const double ours_ns : {200.0, 600.0, 2000.0}) {
    int outside = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = run({{100, 1000, ours_ns}}, static_cast<std::uint64_t>(seed),
                                  {Adaptation(kSoon, true, Adaptation::Mode::watches)});
      EXPECT_GE(outcome.ours, kCalls * 9 / 10) << "seed " << seed;
      EXPECT_EQ(outcome.says.saved_ns > 0, ours_ns < 1000) << "seed " << seed;
      if (std::abs(outcome.says.saved_ns - outcome.saved_ns) > outcome.says.unsure_ns) ++outside;
    }
    EXPECT_LE(outside, kSeeds / 10) << "where ours takes " << ours_ns;
  }
}

// That began with what a run has learnt, from a file that an earlier one has left.
Setting later_than(const Outcome& run) {
  const KindOfCalls kind{Collective::allreduce, 13, 8, 1};
  std::string error;
  EarlierRunsFile left;
  left.on = {"", "", "", "", 2, 8, 1};
  left.runs[kind] = run.learnt;
  const EarlierRunsFile file = read_earlier_runs(write_earlier_runs(left), "r.toml", error);
  EXPECT_EQ(error, "");
  Setting setting;
  setting.adaptation.recall(file.runs.at(kind));
  return setting;
}

TEST(Adaptation, GoesByWhatAnEarlierRunHasLearnt) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const Outcome worse = run({{100, 1000, 2000}}, number);
    EXPECT_GE(worse.early_ours, 32) << "seed " << seed;
    EXPECT_LE(run({{100, 1000, 2000}}, number + kSeeds, later_than(worse)).early_ours, 20) << "seed " << seed;
    const Outcome better = run({{5000, 1000, 500}}, number);
    EXPECT_GE(run({{5000, 1000, 500}}, number + kSeeds, later_than(better)).early_ours, 85) << "seed " << seed;
  }
}

// What was so may be so no more.
TEST(Adaptation, LearnsAnewWhereAnEarlierRunWasOtherwise) {
  int broken = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const Outcome better = run({{100, 1000, 500}}, number);
    const Outcome worse = run({{100, 1000, 2000}}, number);
    const Outcome now_worse = run({{100, 1000, 2000}}, number + kSeeds, later_than(better));
    EXPECT_LE(now_worse.ours, kCalls / 50) << "seed " << seed;
    if (now_worse.worst > 1 + Adaptation::kBehind) ++broken;
    EXPECT_LE(run({{100, 1000, 500}}, number + kSeeds, later_than(worse)).played, 0.75) << "seed " << seed;
  }
  EXPECT_EQ(broken, 0);
}

// A program of few calls: the rule's all the time.
TEST(Adaptation, BeginsWithOurs) {
  Adaptation adaptation(kSoon);
  for (int call = 0; call < Adaptation::kFirstRest; ++call) {
    EXPECT_EQ(adaptation.arm(), Adaptation::Arm::ours) << "call " << call;
    EXPECT_EQ(adaptation.pass(true), Adaptation::Due::nothing);
  }
  int native = 0;
  int calls = Adaptation::kFirstRest;
  for (; calls < 100; ++calls) {
    if (adaptation.arm() == Adaptation::Arm::native) ++native;
    if (adaptation.pass(true) == Adaptation::Due::lesson) break;
  }
  EXPECT_LT(calls, 60) << "nothing is learnt in time for a second try within the first hundred calls";
  EXPECT_EQ(native, Adaptation::kProbe);
}

// Of calls that pass quietly nothing is to be noted; whoever skips them is where whoever passes each one is.
TEST(Adaptation, QuietCallsMayBeSkipped) {
  Adaptation skips(kSoon);
  Adaptation passes(kSoon);
  std::vector<SeenCall> seen;
  int skipped = 0;
  for (int call = 0; call < kCalls; ++call) {
    ASSERT_EQ(skips.arm(), passes.arm()) << "call " << call;
    ASSERT_EQ(skips.is_measured(), passes.is_measured()) << "call " << call;
    const int quiet = skips.quiet();
    for (int each = 0; each < quiet; ++each, ++call) {
      ASSERT_FALSE(passes.is_measured()) << "call " << call;
      ASSERT_EQ(passes.arm(), skips.arm()) << "call " << call;
      ASSERT_EQ(passes.pass(true), Adaptation::Due::nothing) << "call " << call;
    }
    skips.skip(quiet);
    skipped += quiet;
    if (passes.is_measured()) seen.push_back({100, skips.arm() == Adaptation::Arm::ours ? 600 : 1000});
    const Adaptation::Due due = passes.pass(true);
    ASSERT_EQ(skips.pass(true), due) << "call " << call;
    if (due != Adaptation::Due::lesson) continue;
    skips.learn(seen, 500);
    passes.learn(seen, 500);
    seen.clear();
  }
  EXPECT_GT(skipped, kCalls / 2);
  EXPECT_EQ(skips.ours(), passes.ours());
}

// While not all have told, nothing is learnt, and calls go on as they were.
TEST(Adaptation, WaitsUntilAllHaveTold) {
  Adaptation adaptation(kSoon);
  while (adaptation.pass(false) != Adaptation::Due::exchange) {
  }
  for (int call = 0; call < 1000; ++call) {
    EXPECT_EQ(adaptation.arm(), Adaptation::Arm::ours);
    ASSERT_EQ(adaptation.pass(false), Adaptation::Due::nothing) << "call " << call;
  }
  EXPECT_EQ(adaptation.pass(true), Adaptation::Due::lesson);
}

// Ranks exchange what they have measured, so they must measure the same calls, as many as there is room for.
TEST(Adaptation, MeasuresAtMostWhatThereIsRoomFor) {
  Adaptation adaptation(kSoon);
  std::size_t measured = 0;
  int lessons = 0;
  bool exchanged = false;
  std::vector<SeenCall> seen;
  for (int call = 0; call < kCalls; ++call) {
    if (adaptation.is_measured()) {
      EXPECT_FALSE(exchanged) << "call " << call;
      ++measured;
    }
    const Adaptation::Due due = adaptation.pass(true);
    if (due == Adaptation::Due::exchange) {
      ASSERT_LE(measured, Adaptation::kMostMeasured);
      seen.assign(measured, {100, 1000});
      measured = 0;
      exchanged = true;
    } else if (due == Adaptation::Due::lesson) {
      ASSERT_TRUE(exchanged);
      exchanged = false;
      ++lessons;
      adaptation.learn(seen, 500);
    }
  }
  EXPECT_GT(lessons, 10);
}

// On each rank's own clock, from when all left a call together: an hour later nobody knows which of two was the first.
TEST(SightView, ClocksThatDriftMakeNobodyLate) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  const auto skew_ns = [](std::int64_t since_ns, std::int64_t late_ns, bool one_clock) {
    SightView both = SightView::of({since_ns, since_ns + 10'000});
    both.add(SightView::of({since_ns + late_ns, since_ns + late_ns + 10'000}));
    return both.seen(one_clock, 0).skew_ns;
  };
  EXPECT_EQ(skew_ns(kHour, 300'000, true), 300'000);
  EXPECT_EQ(skew_ns(kHour, 300'000, false), 0);
  EXPECT_EQ(skew_ns(0, 300'000, false), 300'000);
  EXPECT_EQ(skew_ns(1'000'000'000, 300'000, false), 200'000);
}

}  // namespace
}  // namespace stretto
