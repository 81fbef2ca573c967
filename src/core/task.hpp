// Task: a lazily started coroutine without a result, the shape of every algorithm in Stretto.
//
// Concurrency is structured: whoever starts a Task awaits it (`co_await task`) or joins it (`TaskGroup`) before its
// own frame dies. There is no cancellation, because a collective cannot be left half done; for ranks that turn out to
// be in different ones there is Executor::stop.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include "core/frame_pool.hpp"

namespace stretto {

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::coroutine_handle<> awaiting;  // resumed when this task ends
    unsigned* unjoined = nullptr;      // set by TaskGroup: resume `awaiting` only when the count falls to zero

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept { return ResumeAwaiting{}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }  // nothing may throw through an MPI program
    static void* operator new(std::size_t bytes) { return FramePool::take(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept { FramePool::give(memory, bytes); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Runs until the first suspension; for drivers and TaskGroup.
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  /// It will never end, and others may still refer to its frames, which stay.
  void forsake() { handle_ = nullptr; }
  promise_type& promise() { return handle_.promise(); }

  // Awaiting a task starts it; the awaiting coroutine goes on when it has ended.
  bool await_ready() const noexcept { return false; }
  Handle await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  void await_resume() const noexcept {}

 private:
  struct ResumeAwaiting {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept {
      promise_type& promise = ended.promise();
      if (promise.unjoined != nullptr && --*promise.unjoined > 0) return std::noop_coroutine();
      return promise.awaiting ? promise.awaiting : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// Children that run concurrently: `group.spawn(child(...)); ...; co_await group.join();`
/// Must be joined before it is destroyed.
class TaskGroup {
 public:
  void spawn(Task child) { children_.push_back(std::move(child)); }

  /// Starts all children in the order of spawning and awaits them all.
  auto join() { return Join{*this}; }

 private:
  struct Join {
    TaskGroup& group;
    bool await_ready() const noexcept { return group.children_.empty(); }
    bool await_suspend(std::coroutine_handle<> awaiting) {
      // One more than there are children, so that none of them resumes us while we still start the others.
      group.unjoined_ = static_cast<unsigned>(group.children_.size()) + 1;
      for (Task& child : group.children_) {
        child.promise().awaiting = awaiting;
        child.promise().unjoined = &group.unjoined_;
        child.start();
      }
      return --group.unjoined_ > 0;
    }
    void await_resume() const noexcept { group.children_.clear(); }
  };

  std::vector<Task> children_;
  unsigned unjoined_ = 0;
};

}  // namespace stretto
