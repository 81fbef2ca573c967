#include "mpi/places/memory_times.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "core/copy.hpp"
#include "core/median.hpp"
#include "core/reduction.hpp"
#include "mpi/places/cores.hpp"

namespace stretto::mpi {
namespace {

// What `once` takes, of so many in a row that the clock does not matter, for about `all_ns` in all.
template <typename Once>
std::int64_t time_of(const Once& once, std::int64_t all_ns) {
  once();
  std::int64_t best = 0;
  std::int64_t times = 1;
  const std::int64_t deadline = monotonic_ns() + all_ns;
  do {
    const std::int64_t begin = monotonic_ns();
    for (std::int64_t i = 0; i < times; ++i) once();
    const std::int64_t taken = monotonic_ns() - begin;
    const std::int64_t each = taken / times;
    if (taken < all_ns / 8) {
      times *= 2;
      best = each;
    } else {
      best = best == 0 ? each : std::min(best, each);
    }
  } while (monotonic_ns() < deadline);
  return best;
}

void bind_to(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

// Two threads, each on a core of its own, that hand a word to each other.
class Hands {
 public:
  static constexpr std::uint32_t kTrips = 2000;
  static constexpr std::uint32_t kSleeps = 60;

  explicit Hands(int other_core) : other_([this, other_core] { answer(other_core); }) {}
  ~Hands() { other_.join(); }
  Hands(const Hands&) = delete;
  Hands& operator=(const Hands&) = delete;

  HandOver measure() {
    std::vector<std::int64_t> trips;
    for (std::uint32_t trip = 0; trip < kTrips; ++trip) {
      const std::int64_t begin = monotonic_ns();
      word_.store(2 * trip + 1, std::memory_order_release);
      await(2 * trip + 2);
      trips.push_back((monotonic_ns() - begin) / 2);
    }
    std::vector<std::int64_t> wakes;
    for (std::uint32_t sleep = 1; sleep <= kSleeps; ++sleep) {
      const std::int64_t asleep_by = monotonic_ns() + 100'000;
      while (monotonic_ns() < asleep_by) {
      }
      const std::int64_t begin = monotonic_ns();
      bell_.store(sleep, std::memory_order_release);
      futex(bell_, FUTEX_WAKE_PRIVATE, 1);
      while (awake_.load(std::memory_order_acquire) < sleep) {
      }
      wakes.push_back(woken_ns_.load(std::memory_order_relaxed) - begin);
    }
    return {std::max<std::int64_t>(median(trips), 1), std::max<std::int64_t>(median(wakes), 1)};
  }

 private:
  void await(std::uint32_t value) {
    while (word_.load(std::memory_order_acquire) != value) {
    }
  }
  void answer(int core) {
    bind_to(core);
    for (std::uint32_t trip = 0; trip < kTrips; ++trip) {
      await(2 * trip + 1);
      word_.store(2 * trip + 2, std::memory_order_release);
    }
    for (std::uint32_t sleep = 1; sleep <= kSleeps; ++sleep) {
      while (bell_.load(std::memory_order_acquire) < sleep) futex(bell_, FUTEX_WAIT_PRIVATE, sleep - 1);
      woken_ns_.store(monotonic_ns(), std::memory_order_relaxed);
      awake_.store(sleep, std::memory_order_release);
    }
  }

  alignas(128) std::atomic<std::uint32_t> word_{0};
  alignas(128) std::atomic<std::uint32_t> bell_{0};
  alignas(128) std::atomic<std::uint32_t> awake_{0};
  std::atomic<std::int64_t> woken_ns_{0};
  std::thread other_;  // last: it uses all of the above
};

}  // namespace

MemoryTimes measure_memory(const Care& care) {
  MemoryTimes work;
  const Reduction sum = predefined_reduction(Operation::sum, Element::float32);
  const std::int64_t deadline = monotonic_ns() + care.curves_ns;
  std::vector<std::byte> from;
  std::vector<std::byte> to;
  std::size_t known = 0;
  for (; known < Curve::kLengths.size() && (known < 2 || monotonic_ns() < deadline); ++known) {
    const std::size_t bytes = Curve::kLengths[known];
    from.resize(bytes);
    to.resize(bytes);
    const auto copy = [&] {
      copy_bytes(to.data(), from.data(), bytes);
      asm volatile("" : : "r"(to.data()) : "memory");
    };
    const auto reduce = [&] { sum.combine(from.data(), to.data(), bytes / sizeof(float), nullptr); };
    work.copy.ns[known] = time_of(copy, care.point_ns);
    work.reduce.ns[known] = time_of(reduce, care.point_ns);
  }
  work.copy.extend_from(known);
  work.reduce.extend_from(known);
  return work;
}

HandOver measure_hand_over() {
  cpu_set_t before;
  pthread_getaffinity_np(pthread_self(), sizeof before, &before);
  HandOver measured;
  try {
    const cpu_set_t permitted = permitted_cores();
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core) {
      if (CPU_ISSET(core, &permitted)) cores.push_back(core);
    }
    if (cores.size() < 2) return {};
    bind_to(cores[0]);
    measured = Hands(cores[1]).measure();
  } catch (const std::system_error&) {  // no thread to be had
  }
  pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  return measured;
}

}  // namespace stretto::mpi
