#include "intercept/background.hpp"

#include <algorithm>
#include <chrono>

#include "intercept/native.hpp"

namespace stretto::intercept {
namespace {

// Between two looks while work is pending: doubled as long as nothing happens. A look costs a few microseconds.
constexpr std::chrono::microseconds kShortestNap{50};
constexpr std::chrono::microseconds kLongestNap{1000};

}  // namespace

void BackgroundWork::add(Anticipation& anticipation) {
  const std::scoped_lock lock(mutex_);
  all_.push_back(&anticipation);
  if (!threaded_) {
    pollable_.store(true, std::memory_order_relaxed);
  } else if (!thread_.joinable()) {
    stopping_ = false;
    thread_ = std::thread([this] { run(); });
  }
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
  }
  woken_.notify_one();
}

void BackgroundWork::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(sleep_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
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

bool BackgroundWork::any_work() {
  const std::scoped_lock lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const Anticipation* one) { return one->has_work(); });
}

void BackgroundWork::run() {
  auto nap = kShortestNap;
  for (;;) {
    nap = poll_all() ? kShortestNap : std::min(2 * nap, kLongestNap);
    const bool work = any_work();
    std::unique_lock lock(sleep_);
    const auto called = [this] { return awake_ || stopping_; };
    if (work) {
      woken_.wait_for(lock, nap, [this] { return stopping_; });
    } else {
      woken_.wait(lock, called);
      nap = kShortestNap;
    }
    awake_ = false;
    if (stopping_) return;
  }
}

}  // namespace stretto::intercept
