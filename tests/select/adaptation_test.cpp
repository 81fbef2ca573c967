// Adaptation: what it takes up and leaves in seeded programs, and what it does from call to call.

#include "select/adaptation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "select/earlier_runs.hpp"
#include "select/seeded_program.hpp"
#include "select/sight_view.hpp"

namespace stretto {
namespace {

TEST(Adaptation, TakesUpWhatIsBetter) {
  for (const int learn_after : {kSoon, kLater}) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = run({{100, 1000, 600}}, static_cast<std::uint64_t>(seed), {Adaptation(learn_after)});
      EXPECT_GE(outcome.ours, kCalls * 7 / 10) << "seed " << seed;
      EXPECT_LE(outcome.played, 0.72) << "seed " << seed;
    }
  }
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
