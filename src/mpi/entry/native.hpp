// The MPI library's own functions, and telling our own calls of them from the program's.
#pragma once

#include <mpi.h>

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

/// A call passed through with the program's own arguments. Refers to the caller's stack.
class NativeCall {
 public:
  template <class Function>
  explicit NativeCall(const Function& function)
      : object_(&function), invoke_([](const void* object) { return (*static_cast<const Function*>(object))(); }) {}
  int operator()() const { return invoke_(object_); }

 private:
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
