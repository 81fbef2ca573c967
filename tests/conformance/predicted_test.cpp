// What algorithms gain that know when the ranks arrive, or act on who has arrived: completion lags and exit times in
// exact virtual time, every message waiting for its receiver.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algorithms/allreduce/straggler_cube.hpp"
#include "algorithms/reduce/meetings.hpp"
#include "catalogue/catalogue.hpp"
#include "prediction/order.hpp"
#include "transport/sim/world.hpp"

namespace stretto::conformance {
namespace {

constexpr std::int64_t kAlphaNs = 2000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::size_t kNoticeBytes = 132;  // of arrival_ordered
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::int64_t wire_ns(std::size_t bytes) { return static_cast<std::int64_t>(bytes) / 10; }

using Times = std::vector<std::int64_t>;

void combine_nothing(const void*, void*, std::size_t, const void*) {}

/// When each rank leaves a call with root 0 that it enters at `arrivals_ns`. No data are moved: sim_test looks at
/// those.
Times exits(Collective collective, const char* name, const Times& arrivals_ns, std::size_t bytes,
            const ArrivalOrder* predicted) {
  sim::Options options;
  options.ranks = static_cast<int>(arrivals_ns.size());
  options.intra = {kAlphaNs, 0.1};
  options.eager_bytes = 0;
  options.arrivals_ns = arrivals_ns;
  options.shared_memory = false;
  options.move_data = false;
  sim::World world(options);
  std::vector<std::byte> input(bytes);
  std::vector<std::byte> output(bytes);
  const Reduction nothing{&combine_nothing, nullptr, 8, true};
  return world.run([&](Group& g) -> Task {
    Call call;
    call.input = input.data();
    call.output = collective == Collective::reduce && g.rank() != 0 ? nullptr : output.data();
    call.count = bytes / 8;
    call.element_bytes = 8;
    call.reduction = &nothing;
    call.order = predicted;
    co_await run_algorithm(g, *find_algorithm(collective, name), call);
  });
}

Times exits_foreseen(Collective collective, const char* name, const Times& arrivals_ns, std::size_t bytes) {
  const ArrivalOrder right(arrivals_ns);
  return exits(collective, name, arrivals_ns, bytes, &right);
}

/// From the last arrival to the last exit; where there is a prediction, it is right.
std::int64_t lag(Collective collective, const char* name, const Times& arrivals_ns, std::size_t bytes) {
  const Times left = exits_foreseen(collective, name, arrivals_ns, bytes);
  return *std::max_element(left.begin(), left.end()) - *std::max_element(arrivals_ns.begin(), arrivals_ns.end());
}

Times at_once(int ranks) { return Times(static_cast<std::size_t>(ranks), 0); }
Times late(int ranks, int rank, std::int64_t delay_ns) {
  Times arrivals = at_once(ranks);
  arrivals[static_cast<std::size_t>(rank)] = delay_ns;
  return arrivals;
}
/// One after the other, not in the order of their numbers.
Times staircase(int ranks, std::int64_t gap_ns) {
  Times arrivals;
  for (int rank = 0; rank < ranks; ++rank) arrivals.push_back(gap_ns * ((rank + ranks / 3) % ranks));
  return arrivals;
}

constexpr auto kAllreduce = Collective::allreduce;
constexpr auto kReduce = Collective::reduce;
constexpr auto kBcast = Collective::bcast;

TEST(Order, KnowsTimesAfterTheFirst) {
  const Times times{-5, 70, -20, 70};
  const ArrivalOrder order(times);
  for (int position = 0; position < 4; ++position) EXPECT_EQ(order.position_of(order.rank_at(position)), position);
  EXPECT_EQ(order.rank_at(0), 2);
  EXPECT_EQ(order.rank_at(3), 3);
  EXPECT_EQ(order.expected_ns(2), 0);
  EXPECT_EQ(order.expected_ns(0), 15);
  EXPECT_EQ(order.expected_ns(3), 90);
  const ArrivalOrder far(Times{INT64_MIN, INT64_MAX});
  EXPECT_EQ(far.expected_ns(1), ArrivalOrder::kLatestNs);
}

class StragglerAllreduce : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
};

// Devraj et al. 2025 promise half of the ring's time as P grows. The bound is that of the late rank's bytes.
TEST_P(StragglerAllreduce, LeavesTheLastRankLittleMoreThanItsOwnBytes) {
  for (std::size_t bytes : {kMiB, 16 * kMiB}) {
    const Times arrivals = late(p, p / 3, 100 * kMillisecond);
    const std::int64_t now = lag(kAllreduce, "straggler_allreduce", arrivals, bytes);
    EXPECT_GT(now, wire_ns(bytes));
    EXPECT_LT(now, 2 * wire_ns(bytes) + 20 * kAlphaNs) << bytes;
    EXPECT_LT(5 * now, 4 * lag(kAllreduce, "ring", arrivals, bytes)) << bytes;
    EXPECT_LT(5 * now, 4 * lag(kAllreduce, "rabenseifner", arrivals, bytes)) << bytes;
  }
}

TEST_P(StragglerAllreduce, TakesInSeveralLateRanksAsTheyCome) {
  Times arrivals = at_once(p);
  for (int late = 0; late < 3; ++late) arrivals[static_cast<std::size_t>(2 * late)] = (40 + 20 * late) * kMillisecond;
  const std::int64_t now = lag(kAllreduce, "straggler_allreduce", arrivals, 16 * kMiB);
  EXPECT_LT(now, lag(kAllreduce, "ring", arrivals, 16 * kMiB));
  EXPECT_LT(now, lag(kAllreduce, "rabenseifner", arrivals, 16 * kMiB));
}

/// The dimensions of the cube, where all but the last rank are there at 0 and that comes late.
int dimensions(int ranks, std::size_t bytes) {
  sim::Options options;
  options.ranks = ranks;
  options.shared_memory = false;
  int found = -1;
  const ArrivalOrder order(late(ranks, ranks / 2, 100 * kMillisecond));
  sim::World(options).run([&](Group& g) -> Task {
    Call call;
    call.count = bytes;
    call.order = &order;
    found = straggler_dimensions(g, call, Line(g, call));
    co_return;
  });
  return found;
}

TEST(StragglerCube, HasGuestsOnlyBeyondAPowerOfTwo) {
  for (int q = 3; q <= 8; ++q) {
    for (std::size_t bytes : {std::size_t{8}, std::size_t{256}, std::size_t{4096}, kMiB}) {
      EXPECT_EQ(dimensions(1 << q, bytes), q) << bytes;
    }
    EXPECT_EQ(dimensions((1 << q) + 1, 16 * kMiB), q) << "one guest";
  }
}

TEST_P(StragglerAllreduce, IsTheRingWhereNobodyIsExpectedLate) {
  const ArrivalOrder equal(at_once(p));
  for (const Times& arrivals : {at_once(p), late(p, p / 2, 70'000)}) {
    EXPECT_EQ(exits(kAllreduce, "straggler_allreduce", arrivals, 16 * kMiB, &equal),
              exits(kAllreduce, "ring", arrivals, 16 * kMiB, nullptr));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, StragglerAllreduce, testing::Values(8, 9, 16, 17, 32, 64, 128));

class PreReducedRing : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
};

TEST_P(PreReducedRing, IsTheRingWhereNoGapsAreExpected) {
  const ArrivalOrder equal(at_once(p));
  for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, kMiB}) {
    for (const Times& arrivals : {at_once(p), late(p, p / 2, 70'000), staircase(p, kMillisecond)}) {
      const Times ring = exits(kAllreduce, "ring", arrivals, bytes, nullptr);
      EXPECT_EQ(exits(kAllreduce, "prereduced_ring", arrivals, bytes, &equal), ring) << bytes;
      EXPECT_EQ(exits(kAllreduce, "prereduced_ring", arrivals, bytes, nullptr), ring) << bytes;
    }
  }
}

TEST_P(PreReducedRing, HasLessToDoTheWiderTheGapsAre) {
  const std::int64_t ring = lag(kAllreduce, "ring", at_once(p), 4 * kMiB);
  std::int64_t before = ring + 1;
  for (std::int64_t gap : {std::int64_t{0}, ring / 8, ring / 4, ring / 2, ring}) {
    const std::int64_t now = lag(kAllreduce, "prereduced_ring", staircase(p, gap), 4 * kMiB);
    EXPECT_LT(now, before) << "gaps of " << gap << " ns";
    before = now;
  }
  EXPECT_LT(10 * before, 7 * ring);

  before = ring + 1;
  for (std::int64_t delay : {std::int64_t{0}, ring * 2 / 3, ring * 3 / 2}) {
    const std::int64_t now = lag(kAllreduce, "prereduced_ring", late(p, p / 2, delay), 4 * kMiB);
    EXPECT_LT(now, before) << "one rank late by " << delay << " ns";
    before = now;
  }
  EXPECT_LT(10 * before, 7 * ring);
}

TEST_P(PreReducedRing, LosesABoundedTimeByAWrongPrediction) {
  const Times arrivals = staircase(p, kMillisecond);
  Times reversed;
  for (std::int64_t arrival : arrivals) reversed.push_back(-arrival);
  const ArrivalOrder wrong(reversed);
  const Times left = exits(kAllreduce, "prereduced_ring", arrivals, kMiB, &wrong);
  EXPECT_LT(*std::max_element(left.begin(), left.end()) - (p - 1) * kMillisecond,
            3 * lag(kAllreduce, "ring", arrivals, kMiB));
}

INSTANTIATE_TEST_SUITE_P(Ranks, PreReducedRing, testing::Values(2, 3, 4, 5, 8, 16, 17, 32, 64));

class Foreseen : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
};

TEST_P(Foreseen, SortedLinearTreeBeatsTheRingOnAStaircase) {
  const Times arrivals = staircase(p, kMillisecond);
  const std::int64_t tree = lag(kAllreduce, "sorted_linear_tree", arrivals, kMiB);
  EXPECT_LT(8 * tree, 7 * lag(kAllreduce, "ring", arrivals, kMiB));
  EXPECT_LT(2 * tree, lag(kAllreduce, "reduce_bcast", arrivals, kMiB));
  EXPECT_GT(lag(kAllreduce, "sorted_linear_tree", late(p, 0, 0), kMiB), tree);
}

TEST_P(Foreseen, ClairvoyantIsNearTheBoundAfterTheLastArrival) {
  const std::int64_t bound = kAlphaNs + wire_ns(kMiB);  // the last rank's data must reach the root
  for (const Times& arrivals :
       {staircase(p, kMillisecond), late(p, p / 2, 3 * kMillisecond), late(p, 0, 3 * kMillisecond)}) {
    const std::int64_t clairvoyant = lag(kReduce, "clairvoyant", arrivals, kMiB);
    EXPECT_LE(bound, clairvoyant);
    EXPECT_LT(3 * clairvoyant, 4 * bound);
    EXPECT_LT(7 * clairvoyant, 2 * lag(kReduce, "binomial", late(p, 0, 0), kMiB));
    EXPECT_LT(clairvoyant, lag(kReduce, "binomial", arrivals, kMiB));
  }
  // Short: one meeting after the last arrival, where binomial has log2(P) in a row.
  EXPECT_LT(lag(kReduce, "clairvoyant", staircase(p, kMillisecond), 1024), kAlphaNs + 3 * wire_ns(1024));
}

TEST_P(Foreseen, RebalancedTreeTakesInOnePartialAfterALateRank) {
  const std::int64_t delay = 10 * kMillisecond;
  const std::int64_t one = lag(kReduce, "rebalanced_tree", late(p, 0, delay), kMiB);
  EXPECT_EQ(one, lag(kReduce, "rebalanced_tree", late(8, 0, delay), kMiB)) << "whatever the number of ranks";
  EXPECT_LT(2 * one, lag(kReduce, "binomial", late(p, 0, delay), kMiB));
  // The largest child of the root takes in one, and hands it up.
  const std::int64_t inner = lag(kReduce, "rebalanced_tree", late(p, p / 2, delay), kMiB);
  EXPECT_LE(inner, 2 * one);
  EXPECT_LT(3 * inner, 2 * lag(kReduce, "binomial", late(p, p / 2, delay), kMiB));
}

TEST_P(Foreseen, ArrivalOrderedServesWhoIsThere) {
  for (const char* name : {"arrival_ordered", "arrival_ordered_nonblocking"}) {
    for (std::size_t bytes : {std::size_t{64}, kMiB}) {
      Times before;
      for (std::int64_t delay : {5 * kMillisecond, 20 * kMillisecond, 100 * kMillisecond}) {
        const int latest = p / 2;  // in a binomial tree, many would wait for it
        Times left = exits(kBcast, name, late(p, latest, delay), bytes, nullptr);
        const std::int64_t alone = left[static_cast<std::size_t>(latest)] - delay;
        EXPECT_LE(alone, 4 * kAlphaNs + wire_ns(bytes) * 5 / 4) << name;
        left[0] = left[static_cast<std::size_t>(latest)] = 0;  // the root stays to the end
        EXPECT_LT(*std::max_element(left.begin(), left.end()), 5 * kMillisecond) << name;
        if (before.empty()) before = left;
        EXPECT_EQ(left, before) << name;
      }
    }
  }
}

TEST_P(Foreseen, ArrivalOrderedServesTheEarlyFirst) {
  // Each rank comes when those before it have been served: nobody waits for more than its own message.
  const Times arrivals = staircase(p, kMillisecond);
  const Times left = exits(kBcast, "arrival_ordered", arrivals, kMiB, nullptr);
  for (std::size_t rank = 1; rank < arrivals.size(); ++rank) {
    if (arrivals[rank] < arrivals[0]) continue;  // waits for the root
    EXPECT_EQ(left[rank] - arrivals[rank], 3 * kAlphaNs + wire_ns(kNoticeBytes) + wire_ns(kMiB)) << rank;
  }
}

TEST_P(Foreseen, ArrivalOrderedGathersWhoComesWhileTheRootIsBusy) {
  // Twenty come while one message takes its time; if each took its own from the root, that would take P of those.
  const Times arrivals = staircase(p, wire_ns(kMiB) / 20);
  const std::int64_t binomial = lag(kBcast, "binomial", at_once(p), kMiB);
  for (const char* name : {"arrival_ordered", "arrival_ordered_nonblocking"})
    EXPECT_LT(lag(kBcast, name, arrivals, kMiB), 2 * binomial) << name;
}

INSTANTIATE_TEST_SUITE_P(Ranks, Foreseen, testing::Values(8, 16, 32, 64));

constexpr Costs kCosts{10, 1000, 1000};  // of a message of 10 bytes 20 ns, of its reduction 10 ns

/// When everything is reduced if the partials that are ready at `ready_ns` meet as `meetings` say.
std::int64_t finish_ns(Times ready_ns, const std::vector<Meeting>& meetings) {
  for (const Meeting& meeting : meetings) {
    std::int64_t& receiver = ready_ns[static_cast<std::size_t>(meeting.receiver)];
    receiver = std::max(receiver, ready_ns[static_cast<std::size_t>(meeting.sender)]) + 30;
  }
  return *std::max_element(ready_ns.begin(), ready_ns.end());
}

/// The best of all trees of meetings.
std::int64_t least_finish_ns(const Times& ready_ns) {
  if (ready_ns.size() == 1) return ready_ns.front();
  std::int64_t least = INT64_MAX;
  for (std::size_t i = 1; i < ready_ns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Times after = ready_ns;
      after[j] = std::max(ready_ns[i], ready_ns[j]) + 30;
      after.erase(after.begin() + static_cast<std::ptrdiff_t>(i));
      least = std::min(least, least_finish_ns(after));
    }
  }
  return least;
}

TEST(Meetings, OfAtomicDataAreTheBestThereAre) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Times times(2 + trial % 5);
    for (std::int64_t& time : times) time = static_cast<std::int64_t>(random() % 100);
    for (int root = 0; root < static_cast<int>(times.size()); ++root)
      EXPECT_EQ(finish_ns(times, plan_meetings(times, root, 1, 10, kCosts)), least_finish_ns(times));
  }
}

TEST(Meetings, ShareOutTheLinks) {
  for (std::size_t ranks : {4U, 8U, 16U, 64U}) {
    constexpr std::size_t kSegments = 16;
    std::vector<std::size_t> taken(ranks, 0);
    for (const Meeting& meeting : plan_meetings(Times(ranks, 0), 0, kSegments, 10, kCosts))
      ++taken[static_cast<std::size_t>(meeting.receiver)];
    EXPECT_LE(*std::max_element(taken.begin(), taken.end()), 2 * kSegments) << "a binomial tree gives the root log2(P)";
  }
}

TEST(Meetings, MakeATreeOfEverySegment) {
  std::mt19937_64 random(2);
  for (int ranks = 1; ranks <= 20; ++ranks) {
    Times times(static_cast<std::size_t>(ranks));
    for (std::int64_t& time : times) time = static_cast<std::int64_t>(random() % 200);
    const std::size_t segments = 1 + random() % 9;
    const int root = static_cast<int>(random() % times.size());
    std::vector<std::vector<bool>> gone(segments, std::vector<bool>(times.size(), false));
    for (const Meeting& meeting : plan_meetings(times, root, segments, 10, kCosts)) {
      std::vector<bool>& segment = gone[meeting.segment];
      EXPECT_FALSE(segment[static_cast<std::size_t>(meeting.sender)]);
      EXPECT_FALSE(segment[static_cast<std::size_t>(meeting.receiver)]);
      EXPECT_NE(meeting.sender, meeting.receiver);
      segment[static_cast<std::size_t>(meeting.sender)] = true;
    }
    for (const std::vector<bool>& segment : gone) {
      EXPECT_EQ(std::count(segment.begin(), segment.end(), true), ranks - 1);
      EXPECT_FALSE(segment[static_cast<std::size_t>(root)]);
    }
  }
}

}  // namespace
}  // namespace stretto::conformance
