// What the ranks of a node tell each other of measured calls: each hears what all have told, and nothing of another
// time.

#include "board/sights.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "concurrency/thread_world.hpp"
#include "conformance/checks.hpp"

namespace stretto::concurrency {
namespace {

constexpr std::size_t kKind = 3;

// What rank `rank` has seen of call `call`, told in telling `number`.
Sight sight_of(std::size_t rank, std::uint64_t number, std::size_t call) {
  const auto value = static_cast<std::int64_t>((number * 1000 + call) * 100 + rank);
  return {value, -value};
}

void tell(Sights& mine, std::size_t rank, std::uint64_t number, std::size_t calls) {
  std::vector<Sight> seen;
  for (std::size_t call = 0; call < calls; ++call) seen.push_back(sight_of(rank, number, call));
  mine.tell(kKind, number, seen, static_cast<std::int64_t>(number));
}

void hear(const Sights& mine, std::uint64_t number, std::size_t calls) {
  for (std::size_t rank = 0; rank < mine.ranks(); ++rank) {
    while (!mine.has_told(kKind, number, rank)) std::this_thread::yield();
    const Sights::Told told = mine.told(kKind, number, rank, calls);
    ASSERT_EQ(told.cost_ns, static_cast<std::int64_t>(number));
    for (std::size_t call = 0; call < calls; ++call) {
      ASSERT_EQ(told.calls[call].arrival_ns, sight_of(rank, number, call).arrival_ns) << number << ' ' << rank;
      ASSERT_EQ(told.calls[call].exit_ns, sight_of(rank, number, call).exit_ns) << number << ' ' << rank;
    }
  }
}

// One that is quick tells the next time while others still hear the last one.
TEST(Sights, AreHeardAsTheyWereTold) {
  constexpr int kRanks = 3;
  const std::uint64_t tellings = conformance::is_brief() ? 2'000 : 20'000;
  std::vector<std::byte> memory(Sights::memory_bytes(kRanks) + kLine);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&memory, rank, tellings] {
      Sights mine(aligned(memory), kRanks, rank);
      for (std::uint64_t number = 1; number <= tellings; ++number) {
        const std::size_t calls = 1 + number % Sights::kMostCalls;
        tell(mine, static_cast<std::size_t>(rank), number, calls);
        hear(mine, number, calls);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Sights, OfTheCommunicatorBeforeNothingIsLeft) {
  std::vector<std::byte> memory(Sights::memory_bytes(2) + kLine);
  Sights before(aligned(memory), 2, 1);
  for (std::size_t kind = 0; kind < Sights::kKinds; ++kind) {
    for (const std::uint64_t number : {1, 2}) {
      before.tell(kind, number, std::vector<Sight>{{1, 2}}, 3);
      ASSERT_TRUE(before.has_told(kind, number, 1));
    }
  }
  Sights::clear(aligned(memory), 2);
  for (std::size_t kind = 0; kind < Sights::kKinds; ++kind) {
    EXPECT_FALSE(before.has_told(kind, 1, 1)) << kind;
    EXPECT_FALSE(before.has_told(kind, 2, 1)) << kind;
  }
}

}  // namespace
}  // namespace stretto::concurrency
