// Prediction: the history of arrivals, and which call comes next.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "prediction/history.hpp"
#include "prediction/recurrence.hpp"

namespace stretto {
namespace {

constexpr int kRanks = 6;
constexpr std::int64_t kMs = 1'000'000;
using Lateness = std::function<std::int64_t(int rank, int call)>;

/// Lets `history` learn from `windows` windows; calls are a varying time apart, which must not matter.
void learn(History& history, int windows, const Lateness& lateness) {
  std::int64_t now = 1'700'000'000'000'000'000;
  for (int window = 0; window < windows; ++window) {
    std::vector<std::int64_t> arrivals(static_cast<std::size_t>(kRanks * History::kWindow));
    for (int call = 0; call < History::kWindow; ++call) {
      now += (5 + (call * 7) % 11) * kMs;
      for (int rank = 0; rank < kRanks; ++rank)
        arrivals[static_cast<std::size_t>(rank * History::kWindow + call)] =
            now + lateness(rank, window * History::kWindow + call);
    }
    history.learn(arrivals);
  }
}

std::vector<int> order_of(const History& history) {
  std::vector<int> ranks;
  for (int i = 0; history.prediction() != nullptr && i < kRanks; ++i) ranks.push_back(history.prediction()->rank_at(i));
  return ranks;
}

const Lateness kSteady = [](int rank, int call) { return (rank * 5 % kRanks) * 3 * kMs + call % 3 * kMs / 10; };
const std::vector<int> kSteadyOrder{0, 5, 4, 3, 2, 1};

TEST(History, LearnsASteadyPattern) {
  History history(kRanks);
  learn(history, 1, kSteady);
  EXPECT_EQ(history.prediction(), nullptr) << "one window is not borne out by another yet";
  learn(history, 1, kSteady);
  EXPECT_EQ(order_of(history), kSteadyOrder);
  EXPECT_LT(history.error_ns(), kMs);
  EXPECT_NEAR(static_cast<double>(history.imbalance_ns()), 4.5e6, 1e5);
}

TEST(History, SaysNothingOfRanksThatComeTogether) {
  History history(kRanks);
  learn(history, 6, [](int rank, int) { return rank * 10'000; });
  EXPECT_EQ(history.prediction(), nullptr);
}

TEST(History, SaysNothingOfRanksThatComeAtRandom) {
  History history(kRanks);
  std::mt19937_64 random(3);
  for (int window = 0; window < 20; ++window) {
    learn(history, 1, [&](int, int) { return static_cast<std::int64_t>(random() % (50 * kMs)); });
    EXPECT_EQ(history.prediction(), nullptr) << "window " << window;
  }
}

TEST(History, FindsThePatternUnderNoise) {
  History history(kRanks);
  std::mt19937_64 random(4);
  learn(history, 8,
        [&](int rank, int call) { return kSteady(rank, call) + static_cast<std::int64_t>(random() % kMs); });
  EXPECT_EQ(order_of(history), kSteadyOrder);
}

TEST(History, StopsWhenThePatternJumpsAndStartsAfresh) {
  History history(kRanks);
  learn(history, 5, kSteady);
  ASSERT_NE(history.prediction(), nullptr);
  const Lateness reversed = [](int rank, int call) { return -kSteady(rank, call); };
  learn(history, 1, reversed);
  EXPECT_EQ(history.prediction(), nullptr) << "the window in which it was wrong";
  learn(history, 1, reversed);
  EXPECT_EQ(order_of(history), std::vector<int>(kSteadyOrder.rbegin(), kSteadyOrder.rend()));
}

TEST(History, FollowsASlowDrift) {
  History history(kRanks);
  learn(history, 200, [](int rank, int call) { return rank == 2 ? call * kMs / 8 : rank * 4 * kMs; });
  ASSERT_NE(history.prediction(), nullptr);
  EXPECT_EQ(order_of(history).back(), 2);
}

TEST(Recurrence, ExpectsWhatFollowedTheLastTime) {
  Recurrence calls;
  const Signature gather{1, 0, 800};
  const Signature scatter{2, 0, 800};
  const Signature other{1, 3, 800};
  bool fresh = false;
  EXPECT_EQ(calls.next(), std::nullopt);
  const std::size_t first = calls.note(gather, fresh);
  EXPECT_TRUE(fresh);
  EXPECT_EQ(calls.next(), std::nullopt);
  calls.note(scatter, fresh);
  EXPECT_EQ(calls.note(gather, fresh), first);
  EXPECT_FALSE(fresh);
  ASSERT_TRUE(calls.next());
  EXPECT_EQ(calls.signature(*calls.next()), scatter);
  calls.note(other, fresh);
  EXPECT_EQ(calls.next(), std::nullopt);
  calls.note(gather, fresh);
  EXPECT_EQ(calls.signature(*calls.next()), other) << "what followed last";
}

TEST(Recurrence, ForgetsTheOldestOfMany) {
  Recurrence calls;
  bool fresh = false;
  for (std::size_t i = 0; i < 10 * Recurrence::kMost; ++i) {
    EXPECT_LT(calls.note({1, 0, i}, fresh), Recurrence::kMost);
    EXPECT_TRUE(fresh);
    EXPECT_EQ(calls.next(), std::nullopt);
  }
}

}  // namespace
}  // namespace stretto
