// Parts of memory that processes have in common: nobody's part is another's, and a part is used again when all have let
// it go. Two arenas over one memory are two processes.

#include "transport/shm/arena.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace stretto::shm {
namespace {

class ArenaTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  static constexpr std::size_t kPart = 1000;
  static constexpr std::size_t kWhole = 1024 + Arena::kLine;

  ArenaTest() {
    mine.open(memory, kBytes, given_out);
    theirs.open(memory, kBytes, given_out);
  }
  void SetUp() override { std::fill(std::begin(memory), std::end(memory), std::byte{0}); }

  alignas(Arena::kLine) std::byte memory[kBytes];
  Atomic<std::uint64_t> given_out;
  Arena mine;
  Arena theirs;
};

TEST_F(ArenaTest, PartsDoNotOverlap) {
  std::set<std::byte*> begins;
  while (const auto part = (begins.size() % 2 == 0 ? mine : theirs).take(kPart, 2))
    begins.insert(mine.memory_of(*part));
  EXPECT_EQ(begins.size(), kBytes / kWhole);
  std::byte* end = memory;
  for (std::byte* begin : begins) {
    EXPECT_GE(begin, end + Arena::kLine);
    EXPECT_EQ((begin - memory) % static_cast<std::ptrdiff_t>(Arena::kLine), 0);
    end = begin + kPart;
  }
  EXPECT_LE(end, memory + kBytes);
}

TEST_F(ArenaTest, APartIsTakenAgainWhenAllHaveLetItGo) {
  const auto first = mine.take(kPart, 2);
  ASSERT_TRUE(first);
  mine.let_go(*first);
  const auto second = mine.take(kPart, 2);
  EXPECT_NE(second, first);
  theirs.let_go(*first);
  EXPECT_EQ(mine.take(kPart, 2), first);
}

TEST_F(ArenaTest, OnlyByWhoeverTookIt) {
  const auto first = mine.take(kPart, 1);
  mine.let_go(*first);
  EXPECT_NE(theirs.take(kPart, 1), first);
}

TEST_F(ArenaTest, OneThatNobodyKnowsOfIsTakenBack) {
  const auto first = mine.take(kPart, 5);
  mine.take_back(*first);
  EXPECT_EQ(mine.take(kPart, 3), first);
}

TEST_F(ArenaTest, WhatIsTooLongIsRefusedAndTakesNothing) {
  EXPECT_FALSE(mine.take(kBytes, 1));
  EXPECT_EQ(given_out.load(std::memory_order_relaxed), 0U);
  EXPECT_TRUE(mine.take(kBytes - Arena::kLine, 1));
}

TEST_F(ArenaTest, OneThatIsNotOpenHasNothing) {
  Arena closed;
  EXPECT_FALSE(closed.take(1, 1));
}

TEST_F(ArenaTest, ThreadsOfOneProcessTakeDifferentParts) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 5;
  std::array<std::array<std::uint32_t, kEach>, kThreads> parts{};
  std::vector<std::thread> threads;
  for (auto& of_thread : parts) {
    threads.emplace_back([&] {
      for (std::uint32_t& part : of_thread) part = mine.take(kPart, 1).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint32_t> all;
  for (const auto& of_thread : parts) all.insert(of_thread.begin(), of_thread.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
}

}  // namespace
}  // namespace stretto::shm
