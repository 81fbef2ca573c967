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

/// `co_await SignalWait{...}`: until the signal has reached the target. See Group::reached.
struct SignalWait {
  Executor* executor;
  Signal* signal;
  std::uint64_t target;
  std::coroutine_handle<> waiter{};

  bool await_ready() const { return signal->reached(target); }
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

  /// Does what can be done now for tasks that have started, without waiting. Returns whether anything could be.
  bool poll(Transport& transport);

  /// No coroutine waits for a signal any more: those that did are about to be destroyed.
  void forget_waits() { watched_.clear(); }

 private:
  Platform& platform_;
  std::vector<std::coroutine_handle<>> ready_;
  std::vector<std::coroutine_handle<>> running_;
  std::vector<std::coroutine_handle<>> resting_;
  std::vector<SignalWait*> watched_;
};

inline void SignalWait::await_suspend(std::coroutine_handle<> suspended) {
  waiter = suspended;
  executor->watch(*this);
}
inline void PauseWait::await_suspend(std::coroutine_handle<> suspended) { executor->rest(suspended); }

}  // namespace stretto
