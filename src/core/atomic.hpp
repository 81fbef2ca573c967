// Atomic words in memory that ranks share.
//
// All lock-free code of Stretto goes through this one type, so that a test build (STRETTO_SCHEDULE_ATOMICS) can hand
// every access to a deterministic scheduler that explores interleavings. In every other build it is std::atomic.
#pragma once

#include <atomic>

namespace stretto {

#ifdef STRETTO_SCHEDULE_ATOMICS
void schedule_point();  // defined by the test's scheduler
#else
inline void schedule_point() {}
#endif

template <class T>
class Atomic {
  static_assert(std::atomic<T>::is_always_lock_free, "ranks are processes: a lock hidden in one of them is no lock");

 public:
  Atomic() = default;
  explicit Atomic(T value) : value_(value) {}

  T load(std::memory_order order) const {
    schedule_point();
    return value_.load(order);
  }
  void store(T value, std::memory_order order) {
    schedule_point();
    value_.store(value, order);
  }
  T exchange(T value, std::memory_order order) {
    schedule_point();
    return value_.exchange(value, order);
  }
  T fetch_add(T value, std::memory_order order) {
    schedule_point();
    return value_.fetch_add(value, order);
  }
  bool compare_exchange(T& expected, T desired, std::memory_order order) {
    schedule_point();
    return value_.compare_exchange_strong(expected, desired, order, std::memory_order_acquire);
  }
  /// The word's address, for futex system calls.
  std::atomic<T>* raw() { return &value_; }

 private:
  std::atomic<T> value_{};
};

}  // namespace stretto
