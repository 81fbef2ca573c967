#include "intercept/background.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "intercept/native.hpp"

namespace stretto::intercept {
namespace {

using std::chrono::microseconds;

// How long to sleep if work is pending and nothing has happened for `quiet`. To sleep and wake costs 20 us of a core
// and more, so the naps grow with the time without news: as long as that at first, then an eighth of it, which is the
// most by which news after a long wait may be held up.
microseconds nap_after(microseconds quiet) {
  constexpr microseconds kShortest{50};
  constexpr microseconds kLongestAtFirst{1000};
  constexpr microseconds kLongest{5000};
  return std::max(std::clamp(quiet, kShortest, kLongestAtFirst), std::min(quiet / 8, kLongest));
}

// MPI looks after a message a step at a time, and the peer answers between two steps: it should not take a nap for
// each. Rounds without news are cheap beside the nap.
constexpr int kRoundsALook = 8;

}  // namespace

void BackgroundWork::add(Anticipation& anticipation) {
  const std::scoped_lock lock(mutex_);
  all_.push_back(&anticipation);
  if (!threaded_) pollable_.store(true, std::memory_order_relaxed);
}

void BackgroundWork::remove(Anticipation& anticipation) {
  const std::scoped_lock lock(mutex_);
  std::erase(all_, &anticipation);
  if (all_.empty()) pollable_.store(false, std::memory_order_relaxed);
}

void BackgroundWork::wake() {
  if (!threaded_) return;
  {
    const std::scoped_lock lock(sleep_);
    awake_ = true;
    if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { run(); });
  }
  woken_.notify_one();
}

void BackgroundWork::stop() {
  {
    const std::scoped_lock lock(sleep_);
    stopping_ = true;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundWork::poll_all() {
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  bool any = false;
  for (Anticipation* anticipation : all_) {
    if (anticipation->has_work() && anticipation->poll()) any = true;
  }
  return any;
}

bool BackgroundWork::look() {
  for (int round = 0; round < kRoundsALook; ++round) {
    if (poll_all()) return true;
  }
  return false;
}

bool BackgroundWork::any_work() {
  const std::scoped_lock lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const Anticipation* one) { return one->has_work(); });
}

void BackgroundWork::run() {
  pthread_setname_np(pthread_self(), "stretto");  // as top and debuggers show it
  microseconds quiet{0};
  for (;;) {
    if (look()) quiet = microseconds{0};
    const bool work = any_work();
    std::unique_lock lock(sleep_);
    const auto called = [this] { return awake_ || stopping_; };
    if (work) {
      const microseconds nap = nap_after(quiet);
      woken_.wait_for(lock, nap, called);
      quiet += nap;
    } else {
      woken_.wait(lock, called);
    }
    if (awake_) quiet = microseconds{0};
    awake_ = false;
    if (stopping_) return;
  }
}

}  // namespace stretto::intercept
