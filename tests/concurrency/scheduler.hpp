// A deterministic scheduler over atomics: one thread runs at a time, and at every access of an Atomic the seed decides
// who runs next. The same seed gives the same interleaving, so a failing one can be run again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <random>
#include <vector>

namespace stretto::concurrency {

class Scheduler {
 public:
  static Scheduler& get() {
    static Scheduler scheduler;
    return scheduler;
  }

  /// Before the threads start. `steadiness`: a thread goes on with probability 1 - 1/steadiness.
  void begin(int threads, std::uint64_t seed, unsigned steadiness) {
    random_.seed(seed);
    steadiness_ = steadiness;
    alive_.assign(static_cast<std::size_t>(threads), false);
    expected_ = threads;
    running_ = -1;
    steps_ = 0;
    stuck_ = false;
  }
  std::size_t steps() const { return steps_; }
  bool stuck() const { return stuck_; }

  void enter(int thread) {
    std::unique_lock lock(mutex_);
    self = thread;
    alive_[static_cast<std::size_t>(thread)] = true;
    if (--expected_ == 0) choose();
    wait_for_turn(lock);
  }
  void exit() {
    const std::unique_lock lock(mutex_);
    alive_[static_cast<std::size_t>(self)] = false;
    self = -1;
    choose();
  }
  /// An access of an atomic; `blocked` says that this thread can only wait for another.
  void step(bool blocked) {
    if (self < 0) return;
    std::unique_lock lock(mutex_);
    if (++steps_ > kMaxSteps) stuck_ = true;
    if (!blocked && random_() % steadiness_ != 0) return;
    choose();
    wait_for_turn(lock);
  }

 private:
  static constexpr std::size_t kMaxSteps = 2'000'000;  // far above what any test needs: nobody gets on any more

  void choose() {
    std::vector<int> candidates;
    for (std::size_t thread = 0; thread < alive_.size(); ++thread) {
      if (alive_[thread]) candidates.push_back(static_cast<int>(thread));
    }
    running_ = candidates.empty() ? -1 : candidates[random_() % candidates.size()];
    turn_.notify_all();
  }
  void wait_for_turn(std::unique_lock<std::mutex>& lock) {
    turn_.wait(lock, [&] { return running_ == self; });
  }

  static inline thread_local int self = -1;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::mt19937_64 random_;
  unsigned steadiness_ = 1;
  std::vector<bool> alive_;
  int expected_ = 0;
  int running_ = -1;
  std::size_t steps_ = 0;
  bool stuck_ = false;
};

}  // namespace stretto::concurrency
