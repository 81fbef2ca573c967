// The ledger of calls and the agreement of a node's ranks: what they say, and that threads may use them at once.

#include "board/ledger.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "concurrency/differing_calls.hpp"

namespace stretto::concurrency {
namespace {

constexpr CallEntry kBcast{Collective::bcast, false, 0, 2, 36};
constexpr CallEntry kReduce{Collective::reduce, false, 5, 2, 36};
constexpr CallEntry kBarrier{Collective::barrier, false, 0, 0, 0};

TEST(Ledger, SignaturesAreAlikeWhereCallsAre) {
  Ledgers ledgers(2);
  for (int call = 0; call < 200; ++call) {
    const CallEntry& entry = call % 3 == 0 ? kBcast : kReduce;
    ASSERT_EQ(ledgers.of(0).enter(entry), ledgers.of(1).enter(entry)) << call;
  }
  EXPECT_FALSE(ledgers.of(0).find_difference(true));
}

TEST(Ledger, SignaturesDifferWhereACallDoesAndEverAfter) {
  const auto with = [](auto change) {
    CallEntry entry = kReduce;
    change(entry);
    return entry;
  };
  const CallEntry others[] = {
      kBcast, with([](CallEntry& entry) { entry.native = true; }), with([](CallEntry& entry) { entry.reduction = 6; }),
      with([](CallEntry& entry) { entry.root = 1; }), with([](CallEntry& entry) { entry.bytes = 40; })};
  for (const CallEntry& other : others) {
    Ledgers ledgers(2);
    ledgers.of(0).enter(kBarrier);
    ledgers.of(1).enter(kBarrier);
    EXPECT_NE(ledgers.of(0).enter(kReduce), ledgers.of(1).enter(other));
    EXPECT_NE(ledgers.of(0).enter(kBarrier), ledgers.of(1).enter(kBarrier));
    const auto difference = ledgers.of(0).find_difference(false);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->number, 2);
    EXPECT_EQ(difference->rank, 1);
    EXPECT_EQ(difference->mine, kReduce);
    EXPECT_EQ(difference->theirs, other);
    EXPECT_EQ(difference->in_count_only(), other.bytes != kReduce.bytes);
  }
}

TEST(Ledger, CountsOfDataThatIsMovedFromARootMayDiffer) {
  Ledgers ledgers(3);
  CallEntry longer = kBcast;
  longer.bytes = 4000;
  EXPECT_EQ(ledgers.of(0).enter(kBcast), ledgers.of(1).enter(longer));
  EXPECT_FALSE(ledgers.of(0).find_difference(true)) << "the root, rank 2, has not come";
  ledgers.of(2).enter(kBcast);
  EXPECT_FALSE(ledgers.of(1).find_difference(false));
  const auto difference = ledgers.of(1).find_difference(true);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->rank, 2);
  EXPECT_TRUE(difference->in_count_only());
}

TEST(Ledger, ACallThatWasNoneIsForgotten) {
  Ledgers ledgers(2);
  ledgers.of(0).enter(kBcast);
  ledgers.of(0).enter(kReduce);
  ledgers.of(0).withdraw();
  ledgers.of(1).enter(kBcast);
  EXPECT_EQ(ledgers.of(0).enter(kBarrier), ledgers.of(1).enter(kBarrier));
  EXPECT_FALSE(ledgers.of(1).find_difference(true));
}

// A rank whose arguments the MPI library may refuse is in no call until that has taken them.
TEST(Ledger, WhatMayBeNoCallDiffersForThePatientOnly) {
  Ledgers ledgers(2);
  ledgers.of(0).enter(kBarrier);
  ledgers.of(1).enter(kBcast, /*unsure=*/true);
  EXPECT_FALSE(ledgers.of(0).find_difference(false));
  EXPECT_TRUE(ledgers.of(0).find_difference(true));
  ledgers.of(1).withdraw();
  EXPECT_FALSE(ledgers.of(0).find_difference(true));
  ledgers.of(1).enter(kBcast, /*unsure=*/true);
  ledgers.of(1).confirm();
  const auto difference = ledgers.of(0).find_difference(false);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->theirs, kBcast);
}

TEST(Ledger, RemembersTheLatestCallsOnly) {
  Ledgers ledgers(2);
  ledgers.of(0).enter(kBcast);
  ledgers.of(1).enter(kReduce);
  for (std::size_t call = 1; call < Ledger::kCalls; ++call) {
    ASSERT_TRUE(ledgers.of(0).find_difference(false)) << call;
    ledgers.of(0).enter(kBarrier);
    ledgers.of(1).enter(kBarrier);
  }
  EXPECT_TRUE(ledgers.of(0).find_difference(false));
  EXPECT_NE(ledgers.of(0).enter(kBarrier), ledgers.of(1).enter(kBarrier)) << "the signatures remember all";
  EXPECT_FALSE(ledgers.of(0).find_difference(false));
}

TEST(Ledger, OnesRevocationIsAllsRevocation) {
  Ledgers ledgers(2);
  EXPECT_FALSE(ledgers.of(0).is_revoked());
  ledgers.of(1).revoke(Ledger::Revoked::different_calls);
  EXPECT_TRUE(ledgers.of(0).is_revoked());
}

// Ranks that are far ahead write over what others read.
TEST(Ledger, IsReadWhileOthersWrite) {
  const int calls = conformance::is_brief() ? 5'000 : 50'000;
  Ledgers ledgers(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&ledgers, rank, calls] {
      Ledger& mine = ledgers.of(rank);
      for (int call = 0; call < calls; ++call) {
        mine.enter({Collective::allreduce, call % 2 == 0, static_cast<std::uint8_t>(call % 251), call,
                    static_cast<std::uint64_t>(call) * 8});
        ASSERT_FALSE(mine.find_difference(true)) << "half an entry was read, or another call's";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DifferingCalls, AllRanksAreStopped) {
  const std::vector<const Algorithm*> all = algorithms_that_wait();
  std::size_t pair = 0;
  for (const Algorithm* theirs : all) {
    for (const Algorithm* its : all) {
      if (theirs->collective == its->collective || (++pair % 5 != 0 && conformance::is_brief())) continue;
      for (int ranks = 2; ranks <= 4; ++ranks) run_calls_that_differ<RealThreads>(ranks, ranks - 1, *theirs, *its, 700);
    }
  }
}

class Agreeing : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  struct Never final : Watchdog {
    bool is_hopeless() override { return false; }
  };
  struct AtOnce final : Watchdog {
    bool is_hopeless() override { return true; }
  };
  Agreement of(int rank) { return {aligned(memory_), kRanks, rank}; }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(Agreement::memory_bytes(kRanks) + kLine);
};

TEST_F(Agreeing, AllGetWhatAllGave) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([this, rank] {
      RealThreads platform(shm::NodeFacts{nullptr, true, nullptr, nullptr});
      Never watch;
      Agreement agreement = of(rank);
      for (std::uint64_t round = 0; round < 1000; ++round) {
        const auto given = [round](int by) {
          const auto number = static_cast<std::uint64_t>(by);
          return Agreement::Words{round, number, round * 10 + number, ~round};
        };
        const std::vector<Agreement::Words> all = agreement.exchange(given(rank), platform, watch);
        ASSERT_EQ(all.size(), kRanks);
        for (int by = 0; by < kRanks; ++by) ASSERT_EQ(all[static_cast<std::size_t>(by)], given(by)) << round;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Agreeing, NobodyWaitsForThoseWhoDoNotCome) {
  RealThreads platform(shm::NodeFacts{nullptr, true, nullptr, nullptr});
  AtOnce watch;
  EXPECT_TRUE(of(1).exchange({}, platform, watch).empty());
}

}  // namespace
}  // namespace stretto::concurrency
