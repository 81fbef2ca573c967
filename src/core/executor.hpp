// Executor: resumes a rank's coroutines when what they wait for has come about.
#pragma once

#include <coroutine>
#include <cstddef>
#include <vector>

#include "core/platform.hpp"
#include "core/task.hpp"
#include "core/transport.hpp"

namespace stretto {

class Executor;

/// `co_await SignalWait{...}`: until the signal has reached the target. See Group::reached. With `exact`, which is not
/// less, a signal that has reached the target is to have that value, else the executor is stopped.
struct SignalWait {
  Executor* executor;
  Signal* signal;
  std::uint64_t target;
  std::uint64_t exact = 0;
  std::coroutine_handle<> waiter{};

  inline bool is_over() const;
  bool await_ready() const { return is_over(); }
  void await_suspend(std::coroutine_handle<> suspended);
  void await_resume() const noexcept {}
};

/// `co_await PauseWait{...}`: let others run before looking again. For rare contention only; prefer a signal.
struct PauseWait {
  Executor* executor;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> suspended);
  void await_resume() const noexcept {}
};

/// Looks, every so often while a rank waits, whether what it waits for can still come.
class Watchdog {
 public:
  virtual ~Watchdog() = default;
  virtual bool is_hopeless() = 0;
};

class Executor {
 public:
  explicit Executor(Platform& platform) : platform_(platform) {}

  /// Resume `coroutine` in the next round.
  void post(std::coroutine_handle<> coroutine) { ready_.push_back(coroutine); }
  void watch(SignalWait& wait) {
    watched_.push_back(&wait);
    platform_.watching(*wait.signal, wait.target);
  }
  void rest(std::coroutine_handle<> coroutine) { resting_.push_back(coroutine); }

  /// Resumes everything that can go on now. Returns whether anything could.
  bool run_ready();

  /// No coroutine can go on before a message is complete.
  bool awaits_messages_only() const { return ready_.empty() && watched_.empty() && resting_.empty(); }

  bool resting() const { return !resting_.empty(); }
  void end_rest();

  /// The blocking mode: runs `task` to its end on the caller's stack.
  void drive(Task& task, Transport& transport) {
    task.start();
    finish(task, transport);
  }
  /// The same with a task that has started before.
  void finish(Task& task, Transport& transport);

  /// From here on nothing goes on: finish() returns though its task has not ended, and will not. For calls that
  /// cannot be ended, as the ranks are in different ones.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// Asked by finish() while it waits; when it is hopeless, the executor is stopped.
  void watched_by(Watchdog* watchdog) { watchdog_ = watchdog; }

  /// Does what can be done now for tasks that have started, without waiting. Returns whether anything could be.
  bool poll(Transport& transport);

  /// No coroutine waits for a signal any more: those that did are about to be destroyed.
  void forget_waits() { watched_.clear(); }

 private:
  Platform& platform_;
  Watchdog* watchdog_ = nullptr;
  bool stopped_ = false;
  std::vector<std::coroutine_handle<>> ready_;
  std::vector<std::coroutine_handle<>> running_;
  std::vector<std::coroutine_handle<>> resting_;
  std::vector<SignalWait*> watched_;
};

inline bool SignalWait::is_over() const {
  const std::uint64_t value = signal->value.load(std::memory_order_acquire);
  if (value < target) return false;
  if (exact == 0 || value == exact) return true;
  executor->stop();
  return false;
}

inline void SignalWait::await_suspend(std::coroutine_handle<> suspended) {
  waiter = suspended;
  executor->watch(*this);
}
inline void PauseWait::await_suspend(std::coroutine_handle<> suspended) { executor->rest(suspended); }

}  // namespace stretto
