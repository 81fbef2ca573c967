// Ranks that wait, as threads: one that sleeps is woken by a ring, and wakes others.

#include "transport/shm/doorbell.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <functional>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "transport/shm/node_platform.hpp"

namespace stretto::shm {
namespace {

constexpr std::int64_t kLimitNs = 60'000'000'000;

// Each waits for a signal that nobody has published, until `published`, which they look after at each poke.
class Sleepers {
 public:
  explicit Sleepers(int count) : looks(static_cast<std::size_t>(count)) {
    for (std::atomic<int>& of_one : looks) threads_.emplace_back([this, &of_one] { wait(of_one); });
  }
  ~Sleepers() {
    NodePlatform(NodeFacts{}).publish(signal_, 1);
    for (std::thread& thread : threads_) thread.join();
  }

  // From a rank of the node. Returns how many then still sleep on the signal.
  long publish() {
    NodeFacts facts;
    facts.doorbell = &bell;
    facts.strangers = &strangers;
    NodePlatform(facts).publish(signal_, 1);
    return syscall(SYS_futex, signal_.value.raw(), FUTEX_WAKE, INT_MAX);
  }

  Doorbell bell;
  std::atomic<bool> strangers{false};
  std::vector<std::atomic<int>> looks;  // after MPI, of each

 private:
  void wait(std::atomic<int>& own_looks) {
    NodeFacts facts;
    facts.oversubscribed = true;
    facts.poke = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
    facts.poke_context = &own_looks;
    facts.doorbell = &bell;
    facts.strangers = &strangers;
    NodePlatform platform(facts);
    for (unsigned idle_rounds = 0; !signal_.reached(1); ++idle_rounds) platform.idle(&signal_, 1, idle_rounds);
  }

  Signal signal_;
  std::vector<std::thread> threads_;
};

bool soon(const std::function<bool()>& condition) {
  const std::int64_t end_ns = monotonic_ns() + kLimitNs;
  while (monotonic_ns() < end_ns) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(Doorbell, NobodyHearsItWhereNobodySleeps) {
  Doorbell bell;
  EXPECT_FALSE(bell.is_heard());
  EXPECT_EQ(bell.ring(), 0);
}

// By a timer they wake, too: what a ring has woken is what the kernel says.
TEST(Doorbell, ARingWakesWhoSleeps) {
  Sleepers sleepers(1);
  EXPECT_TRUE(soon([&] { return sleepers.bell.ring() == 1; }));
}

// Whoever publishes looks at one word of the node's first.
TEST(Doorbell, WhoPublishesWakesWhoSleeps) {
  for (int round = 0; round < 20; ++round) {
    Sleepers sleepers(2);
    ASSERT_TRUE(soon([&] { return sleepers.bell.asleep.load(std::memory_order_seq_cst) == 2; }));
    EXPECT_EQ(sleepers.publish(), 0) << "round " << round;
  }
}

TEST(Doorbell, ARingWakesTwoAndTheseTheOthers) {
  constexpr int kSleepers = 5;
  Sleepers sleepers(kSleepers);
  const auto all_sleep = [&] { return sleepers.bell.sleepers.load(std::memory_order_seq_cst) == kSleepers; };
  ASSERT_TRUE(soon([&] {
    if (!soon(all_sleep)) return false;
    return sleepers.bell.ring() == 2;
  }));
  const std::vector<int> before(sleepers.looks.begin(), sleepers.looks.end());
  for (std::size_t each = 0; each < kSleepers; ++each)
    EXPECT_TRUE(soon([&] { return sleepers.looks[each] > before[each]; })) << "sleeper " << each;
}

TEST(Doorbell, WhereThereAreStrangersNobodyReliesOnIt) {
  Sleepers sleepers(1);
  ASSERT_TRUE(soon([&] { return sleepers.bell.is_heard(); }));
  sleepers.strangers = true;
  EXPECT_TRUE(soon([&] { return !sleepers.bell.is_heard(); }));
  const int before = sleepers.looks[0];
  EXPECT_TRUE(soon([&] { return sleepers.looks[0] > before + 10; }));
  EXPECT_FALSE(sleepers.bell.is_heard());
}

}  // namespace
}  // namespace stretto::shm
