// The MPI library's own functions, and telling our own calls of them from the program's.
#pragma once

#include <mpi.h>

#include "core/clock.hpp"
#include "transport/shm/doorbell.hpp"

namespace stretto::mpi {

/// Whether the MPI library takes one buffer for both sides of a collective call.
#if defined(OPEN_MPI)
inline constexpr bool kTakesSameBuffer = true;
#else
inline constexpr bool kTakesSameBuffer = false;
#endif

/// The next definition of `symbol` behind this library: the MPI library's, or another tool's that is layered below.
/// Ends the process with a message if there is none.
void* next_symbol(const char* symbol);

/// A call passed through with the program's own arguments. Refers to the caller's stack. Others of the node that sleep
/// in a collective of ours may be needed for it.
class NativeCall {
 public:
  /// Rung before a call; null where not all whom MPI may need here would hear it, or ring it.
  static inline shm::Doorbell* doorbell = nullptr;

  template <class Function>
  explicit NativeCall(const Function& function)
      : object_(&function), invoke_([](const void* object) { return (*static_cast<const Function*>(object))(); }) {}
  int operator()() const {
    announce();
    return invoke_(object_);
  }
  /// The same of a call that only looks, and that a program may make all the time.
  int look() const {
    if (is_heard()) announce_a_look();
    return invoke_(object_);
  }
  /// Of one that needs nobody, or for whose end a later call waits. To wake a rank costs more than most calls.
  int without_a_ring() const { return invoke_(object_); }

  /// Whether anybody sleeps.
  static bool is_heard() { return doorbell != nullptr && doorbell->is_heard(); }
  static void announce() {
    if (is_heard()) doorbell->ring();
  }

 private:
  static void announce_a_look() {
    constexpr std::int64_t kBetweenLooksNs = 1'000'000;
    static thread_local std::int64_t latest_ns = 0;
    const std::int64_t now_ns = monotonic_ns();
    if (now_ns - latest_ns < kBetweenLooksNs) return;
    latest_ns = now_ns;
    doorbell->ring();
  }

  const void* object_;
  int (*invoke_)(const void*);
};

/// While one of these lives, MPI calls of this thread come from Stretto or from inside the MPI library.
class ReentryGuard {
 public:
  ReentryGuard() { ++depth; }
  ~ReentryGuard() { --depth; }
  ReentryGuard(const ReentryGuard&) = delete;
  ReentryGuard& operator=(const ReentryGuard&) = delete;
  static bool active() { return depth > 0; }

 private:
  static thread_local int depth;
};

}  // namespace stretto::mpi
