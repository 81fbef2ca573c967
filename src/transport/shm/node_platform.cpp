#include "transport/shm/node_platform.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

#include "core/clock.hpp"
#include "transport/shm/single_copy.hpp"

namespace stretto::shm {
namespace {

// A rank waits in three steps. It spins while it has a core of its own; it yields while it seems that nobody else needs
// the core (waking a sleeper costs 3-23 us, and seven of them in a row 200 us, where yielding ranks take 70); it sleeps
// when somebody does. A yield that takes long has run somebody else's computation.
constexpr unsigned kLooksAtOnce = 100;    // some 200 ns
constexpr unsigned kLooksShortly = 1000;  // some 40 us: to go on from here takes a short call's time less
constexpr unsigned kSpinRounds = 200;
constexpr unsigned kLooksPerRound = 50;
constexpr unsigned kRoundsPerPoke = 8;
constexpr std::int64_t kCrowdedYieldNs = 200'000;
constexpr std::int64_t kYieldForNs = 200'000'000;
// Sleeps end on a common grid of the clock, so that those of one core share a timer's interrupt, and grow while
// somebody needs the core: then no rank keeps a peer that needs it in MPI waiting for much longer than it has waited
// itself. One wake costs the ranks that compute some 4 us: sleeps of 1, 2, 4, 4... ms made a step in which the late
// ranks compute 0.2 % longer than under Open MPI, which yields; these end within 0.05 % of it (8 ranks, 2 cores).
constexpr std::int64_t kSleepGridNs = 4'000'000;
constexpr std::int64_t kLongestSleepNs = 32'000'000;
// When MPI has moved something, or a rank has rung that may want something moved, more is likely to come, and the rank
// stays awake for a while. After that, where all who may need it ring, its naps are a quarter of the time since: what
// comes all the same without a ring, such as what MPI has still to send though its request is complete, is at most that
// much later. And no longer than a millisecond while the program has something under way in MPI, for which others may
// need this rank, lest they need it and do not know. (docs/decisions/0021-waiting-looks-after-mpi.md)
constexpr std::int64_t kPartOfQuiet = 4;
constexpr std::int64_t kLongestNeededNs = 1'000'000;
// Where not all ring, naps of 0.5, 1 and 2 ms come before the sleeps. And while the program has something under way,
// nothing but short naps, each with a look.
constexpr std::int64_t kFirstNapNs = 500'000;
constexpr std::int64_t kShortNapNs = 20'000;  // to which the kernel adds up to 50 us
constexpr std::int64_t kAwakeNs = 200'000;
// A store is seen by all cores long before, with a kilobyte of others that it waits for. Should that ever not be
// enough, a wake-up is missed, and the sleep ends by the clock.
constexpr std::int64_t kSeenNs = 3'000;
// A look that has moved much takes longer than others by this. After a nap, or when another rank has had the core,
// caches are cold, and any look takes a few us longer: with 1 us, ranks of one core kept each other awake.
constexpr std::int64_t kMovedNs = 5'000;

void pause_instruction() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The kernel compares 32 bits; these are the ones that change with every call.
std::uint32_t* low_word(Signal& signal) {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<std::uint32_t*>(signal.value.raw());
}

std::int64_t next_grid_point(std::int64_t time_ns) { return (time_ns / kSleepGridNs + 1) * kSleepGridNs; }

}  // namespace

std::int64_t NodePlatform::now_ns() { return monotonic_ns(); }

void NodePlatform::publish(Signal& signal, std::uint64_t value) {
  // Dekker with sleep_on: we write the value, then read who sleeps; a sleeper counts itself, then reads the value. To
  // wait until others see our value would be half of a short call (the line comes from another core), so the sleeper
  // waits in place of us.
  signal.value.store(value, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (all_are_awake()) [[likely]]
    return;
  if (signal.sleepers.load(std::memory_order_relaxed) > 0) syscall(SYS_futex, low_word(signal), FUTEX_WAKE, INT_MAX);
}

// Of the node's ranks, as far as that can be told at a glance.
bool NodePlatform::all_are_awake() const {
  return facts_.doorbell != nullptr && !facts_.strangers->load(std::memory_order_relaxed) &&
         facts_.doorbell->asleep.load(std::memory_order_relaxed) == 0;
}

bool NodePlatform::may_look_again(unsigned looks) const {
  if (looks > kLooksAtOnce) pause_instruction();
  return looks < kLooksShortly && !facts_.oversubscribed;
}

void NodePlatform::idle(Signal* sole, std::uint64_t target, unsigned idle_rounds) {
  if (!facts_.oversubscribed) {
    for (unsigned look = 0; look < kLooksPerRound; ++look) {
      if (sole != nullptr && sole->reached(target)) return;
      pause_instruction();
      if (sole == nullptr) break;
    }
    if (idle_rounds < kSpinRounds) return;
  }
  const unsigned first_yield = facts_.oversubscribed ? 0 : kSpinRounds;
  if (idle_rounds == first_yield) {
    idle_since_ns_ = latest_look_ns_ = now_ns();
    stirred_ns_ = idle_since_ns_;
    crowded_ = false;
    sleep_ns_ = kFirstNapNs;
  }
  if (sole != nullptr && (crowded_ || latest_look_ns_ - idle_since_ns_ > kYieldForNs)) {
    yield_or_nap(*sole, target);
    return;
  }
  if (idle_rounds % kRoundsPerPoke == kRoundsPerPoke - 1 && facts_.poke != nullptr)
    facts_.poke(facts_.poke_context);  // not timed, which is not free
  yield();
}

void NodePlatform::yield() {
  sched_yield();
  const std::int64_t now = now_ns();
  crowded_ = crowded_ || now - latest_look_ns_ > kCrowdedYieldNs;
  latest_look_ns_ = now;
}

// Listens all the time: who is not heard now may need this rank when it has gone to sleep.
void NodePlatform::yield_or_nap(Signal& signal, std::uint64_t target) {
  const bool listens = may_listen();
  if (listens) facts_.doorbell->listeners.fetch_add(1, std::memory_order_seq_cst);
  if (is_stirred()) stirred_ns_ = now_ns();
  if (now_ns() - stirred_ns_ < kAwakeNs) {
    yield();
  } else {
    listens ? listen(signal, target) : nap(signal, target);
    latest_look_ns_ = now_ns();
  }
  if (listens) facts_.doorbell->listeners.fetch_add(static_cast<std::uint32_t>(-1), std::memory_order_release);
}

// Whether MPI seems to have moved something, by the time it took.
bool NodePlatform::poke() {
  if (facts_.poke == nullptr) return false;
  const std::int64_t begin = now_ns();
  facts_.poke(facts_.poke_context);
  const std::int64_t took = now_ns() - begin;
  if (quiet_poke_ns_ == 0 || took < quiet_poke_ns_) quiet_poke_ns_ = took;
  return took > quiet_poke_ns_ + kMovedNs;
}

// A peer may wait for us in MPI. Looks after all that has been rung for.
bool NodePlatform::is_stirred() {
  const std::uint32_t rings = facts_.doorbell == nullptr ? 0 : facts_.doorbell->rings.load(std::memory_order_seq_cst);
  const bool rung = std::exchange(heard_, rings) != rings;
  return poke() || rung;
}

bool NodePlatform::may_listen() const {
  return facts_.doorbell != nullptr && can_hear_ && !facts_.strangers->load(std::memory_order_relaxed);
}

bool NodePlatform::is_needed() const {
  return facts_.open != nullptr && facts_.open->load(std::memory_order_relaxed) > 0;
}

void NodePlatform::listen(Signal& signal, std::uint64_t target) {
  const std::int64_t now = now_ns();
  const std::int64_t longest_ns = is_needed() ? kLongestNeededNs : kLongestSleepNs;
  const std::int64_t nap_ns = std::clamp((now - stirred_ns_) / kPartOfQuiet, kShortNapNs, longest_ns);
  sleep_on(signal, target, nap_ns >= kSleepGridNs ? next_grid_point(now + nap_ns) : now + nap_ns);
}

void NodePlatform::nap(Signal& signal, std::uint64_t target) {
  const bool needed = is_needed();
  if (!needed && sleep_ns_ >= kSleepGridNs) {
    sleep_on(signal, target, next_grid_point(now_ns() + sleep_ns_));
    if (crowded_) sleep_ns_ = std::min(2 * sleep_ns_, kLongestSleepNs);
    return;
  }
  sleep_on(signal, target, now_ns() + (needed ? kShortNapNs : sleep_ns_));
  if (!needed) sleep_ns_ *= 2;
}

// By the monotonic clock.
void NodePlatform::sleep_on(Signal& signal, std::uint64_t target, std::int64_t until_ns) {
  if (facts_.doorbell != nullptr) facts_.doorbell->asleep.fetch_add(1, std::memory_order_seq_cst);
  signal.sleepers.fetch_add(1, std::memory_order_seq_cst);
  for (const std::int64_t begin = now_ns(); now_ns() - begin < kSeenNs;) pause_instruction();
  const std::uint64_t value = signal.value.load(std::memory_order_seq_cst);
  const auto seen = static_cast<std::uint32_t>(value);
  if (value < target && !(may_listen() && sleep_on_bell_too(signal, seen, until_ns))) {
    const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    syscall(SYS_futex, low_word(signal), FUTEX_WAIT_BITSET, seen, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  }
  signal.sleepers.fetch_add(static_cast<std::uint32_t>(-1), std::memory_order_seq_cst);
  if (facts_.doorbell != nullptr)
    facts_.doorbell->asleep.fetch_add(static_cast<std::uint32_t>(-1), std::memory_order_seq_cst);
}

// False where the kernel cannot wait for two words (before Linux 5.16).
bool NodePlatform::sleep_on_bell_too([[maybe_unused]] Signal& signal, [[maybe_unused]] std::uint32_t seen,
                                     [[maybe_unused]] std::int64_t until_ns) {
#ifdef SYS_futex_waitv
  const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
  Doorbell& bell = *facts_.doorbell;
  const auto address = [](const void* word) { return reinterpret_cast<std::uintptr_t>(word); };
  struct futex_waitv words[2] = {{seen, address(low_word(signal)), FUTEX_32, 0},
                                 {heard_, address(bell.rings.raw()), FUTEX_32, 0}};
  bell.sleepers.fetch_add(1, std::memory_order_seq_cst);  // Dekker again: who rings sees this, or we that it has rung
  const long result = syscall(SYS_futex_waitv, words, 2, 0, &until, CLOCK_MONOTONIC);
  can_hear_ = result >= 0 || errno != ENOSYS;
  bell.sleepers.fetch_add(static_cast<std::uint32_t>(-1), std::memory_order_seq_cst);
  if (bell.rings.load(std::memory_order_relaxed) != heard_) bell.pass_on();
#else
  can_hear_ = false;
#endif
  return can_hear_;
}

bool NodePlatform::read_peer(int peer, void* to, std::uint64_t address, std::size_t bytes) {
  return read_process((*facts_.processes)[static_cast<std::size_t>(peer)], to, address, bytes);
}

}  // namespace stretto::shm
