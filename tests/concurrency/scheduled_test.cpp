// Every algorithm, on the board or over the mailboxes, under thousands of interleavings of its atomic accesses, each
// named by a seed. STRETTO_SEED=n runs one again; STRETTO_SCHEDULES=n sets how many are tried of an algorithm on the
// board; of one over messages, whose interleavings are those of the mailboxes, it is a fifth.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "concurrency/differing_calls.hpp"
#include "concurrency/scheduler.hpp"
#include "concurrency/thread_world.hpp"
#include "conformance/checks.hpp"

namespace stretto {
void schedule_point() { concurrency::Scheduler::get().step(false); }
}  // namespace stretto

namespace stretto::concurrency {
namespace {

using conformance::number_from;
using conformance::run_and_check;
using conformance::Shape;

struct Scheduled : shm::NodePlatform {
  using NodePlatform::NodePlatform;
  void publish(Signal& signal, std::uint64_t value) override { signal.value.store(value, std::memory_order_release); }
  void idle(Signal*, std::uint64_t, unsigned) override {
    Scheduler::get().step(true);
    if (!Scheduler::get().stuck()) return;
    std::fprintf(stderr, "no rank gets on any more; see the last seed printed\n");
    std::_Exit(1);
  }
  void enter(int rank) { Scheduler::get().enter(rank); }
  void exit() { Scheduler::get().exit(); }
};

const std::uint64_t kSchedules = number_from("STRETTO_SCHEDULES", 250);

void explore(const Algorithm& algorithm, std::uint64_t seed) {
  const bool on_nodes = algorithm.uses_node_memory();  // of two ranks, and one
  const int ranks = (on_nodes ? 3 : 2) + static_cast<int>(seed % 3);
  Scheduler::get().begin(ranks, seed, 1 + static_cast<unsigned>(seed % 5));
  constexpr std::size_t kCounts[] = {2, 2500, 5000};  // in a cache line; a slot, or two chunks; two slots, or the pool
  ThreadWorld<Scheduled> world(ranks, std::size_t{512} << 10, on_nodes ? 2 : 0);
  const std::string name = std::string(algorithm.name) + " seed " + std::to_string(seed);
  world.run([&](Group& g) -> Task {
    for (unsigned call = 0; call < 3; ++call) {  // the third reuses what the first has used
      const std::size_t count = kCounts[(seed / 3 + call % 2) % 3];
      const Shape shape{count, static_cast<int>(call) % g.size(), call == 1, false};
      co_await run_and_check(g, algorithm, shape, call, name);
    }
  });
}

void explore_all(const Algorithm& algorithm, std::uint64_t schedules) {
  if (const std::uint64_t only = number_from("STRETTO_SEED", 0)) return explore(algorithm, only);
  for (std::uint64_t seed = 1; seed <= schedules && !testing::Test::HasFailure(); ++seed) explore(algorithm, seed);
}

class Interleavings : public testing::TestWithParam<Algorithm> {};

TEST_P(Interleavings, AreAllRight) {
  explore_all(GetParam(), GetParam().needs.memory == Memory::none ? kSchedules / 5 : kSchedules);
}

INSTANTIATE_TEST_SUITE_P(Registry, Interleavings, testing::ValuesIn(conformance::distinct_algorithms()),
                         [](const auto& test) {
                           return std::string(name_of(test.param.collective)) + "_" + std::string(test.param.name);
                         });

TEST(InterleavingsOfNodes, InStripesAreAllRight) {
  explore_all(*find_algorithm(Collective::allreduce, "hierarchical(arrival_stripes,rabenseifner)"), kSchedules);
}

// Several receives of one stream wait at once while the messages come: each takes its own. Lengths differ, so that a
// message travels in its cell, or is read from the sender's memory.
Task receives_ahead(Group& g) {
  constexpr std::size_t kMessages = 24;
  constexpr std::size_t kAhead = 3;
  constexpr std::size_t kMostBytes = 1000;
  std::vector<std::byte> data(kMessages * kMostBytes);
  std::vector<Transfer> transfers;
  transfers.reserve(kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) {
    std::byte* place = data.data() + i * kMostBytes;
    const std::size_t bytes = i % 3 == 0 ? kMostBytes : 8;
    if (g.rank() == 0) std::fill_n(place, bytes, static_cast<std::byte>(i + 1));
    transfers.push_back(g.rank() == 0 ? g.send(place, bytes, 1) : g.recv(place, bytes, 0));
    transfers.back().start();
    if (i < kAhead) continue;
    Transfer& oldest = transfers[i - kAhead];
    co_await oldest;
  }
  for (Transfer& transfer : transfers) co_await transfer;
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_EQ(data[i * kMostBytes], static_cast<std::byte>(i + 1));
}

TEST(Mailboxes, ReceivesPostedAheadKeepTheirOrder) {
  for (std::uint64_t seed = 1; seed <= 2 * kSchedules && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scheduler::get().begin(2, seed, 1 + static_cast<unsigned>(seed % 5));
    ThreadWorld<Scheduled> world(2);
    world.run([](Group& g) { return receives_ahead(g); });
  }
}

// Ranks in different calls wait for what may never come, and read what others write at that moment.
TEST(DifferingCalls, AllRanksAreStopped) {
  const std::vector<const Algorithm*> all = algorithms_that_wait();
  for (std::uint64_t seed = 1; seed <= 2 * kSchedules && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Algorithm& theirs = *all[seed % all.size()];
    const Algorithm& its = *all[seed / all.size() % all.size()];
    if (theirs.collective == its.collective) continue;
    const int ranks = 2 + static_cast<int>(seed % 3);
    Scheduler::get().begin(ranks, seed, 1 + static_cast<unsigned>(seed % 5));
    run_calls_that_differ<Scheduled>(ranks, static_cast<int>(seed / 3) % ranks, theirs, its, seed % 2 == 0 ? 3 : 700);
  }
}

// The scheduler itself: it finds the lost update of an increment that is a load and a store.
TEST(Scheduler, FindsALostUpdate) {
  bool lost = false;
  for (std::uint64_t seed = 1; seed <= 50 && !lost; ++seed) {
    Scheduler::get().begin(2, seed, 2);
    Atomic<int> counter{0};
    const auto increment = [&](int thread) {
      Scheduler::get().enter(thread);
      counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      Scheduler::get().exit();
    };
    std::thread first(increment, 0);
    std::thread second(increment, 1);
    first.join();
    second.join();
    lost = counter.load(std::memory_order_relaxed) == 1;
  }
  EXPECT_TRUE(lost);
}

}  // namespace
}  // namespace stretto::concurrency
