// What may start or complete what goes on beside the program: non-blocking collectives, of ours or for the profile; and
// all else that is open, by number.
#include <sched.h>

#include "mpi/calls/handlers.hpp"
#include "mpi/engine/runtime.hpp"

namespace stretto::mpi {

// Polls in vain before the core is offered to others.
static constexpr unsigned kPatientRounds = 100;

namespace {

// Those among some requests that are complete, and still there.
struct Persistent {
  OpenOperations& open;
  int count;
  const MPI_Request* requests;

  void completed(int index) const {
    if (index != MPI_UNDEFINED) open.completed(requests[index]);
  }
  void completed_all() const {
    for (int index = 0; index < count; ++index) completed(index);
  }
};

}  // namespace

// While collectives of ours are under way, whoever waits drives them. `attempt(done)` asks MPI once, without waiting.
// Nobody is woken for what is complete already.
template <class Attempt>
int Handler::drive(const Attempt& attempt) {
  Runtime& runtime = Runtime::get();
  if (!runtime.any_in_flight()) {
    if (!NativeCall::is_heard()) return native_.without_a_ring();
    const ReentryGuard guard;
    int done = 0;
    const int result = attempt(&done);
    return result != MPI_SUCCESS || done != 0 ? result : native_();
  }
  const ReentryGuard guard;
  NativeCall::announce();
  for (unsigned idle_rounds = 0;; ++idle_rounds) {
    const bool progressed = runtime.background().poll_all();
    int done = 0;
    const int result = attempt(&done);
    if (result != MPI_SUCCESS || done != 0) return result;
    if (progressed) idle_rounds = 0;
    if (idle_rounds > kPatientRounds) sched_yield();
  }
}

// `completed(completing)` tells which requests the call has completed.
template <class Attempt, class Completed>
int Handler::complete(int count, MPI_Request* requests, const Attempt& attempt, const Completed& completed) {
  Requests& observed = Runtime::get().requests();
  OpenOperations& open = Runtime::get().open_operations();
  if (!open.any_requests() && !observed.any()) return drive(attempt);
  const int before = OpenOperations::count_live(count, requests);
  Persistent persistent{open, count, requests};
  int result = MPI_SUCCESS;
  if (observed.any()) {
    const ReentryGuard guard;
    Completing completing(observed, requests, count);
    result = drive(attempt);
    if (result == MPI_SUCCESS) completed(completing);
  } else {
    result = drive(attempt);
  }
  const int after = OpenOperations::count_live(count, requests);
  open.completed_for_good(before - after);
  if (after > 0 && result == MPI_SUCCESS) completed(persistent);
  return result;
}

int Handler::Wait(MPI_Request* request, MPI_Status* status) noexcept {
  return complete(
      1, request, [&](int* done) { return PMPI_Test(request, done, status); },
      [](auto& completing) { completing.completed_all(); });
}

// Not by MPI_Testall: in MPICH 5.0 it takes every persistent collective of the library's own for failed.
int Handler::Waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  if (requests == nullptr) return native_();
  int complete_so_far = 0;
  const auto attempt = [&](int* done) {
    while (complete_so_far < count) {
      int there = 0;
      const int result = PMPI_Request_get_status(requests[complete_so_far], &there, MPI_STATUS_IGNORE);
      if (result != MPI_SUCCESS || there == 0) return result;
      ++complete_so_far;
    }
    *done = 1;
    return PMPI_Waitall(count, requests, statuses);
  };
  return complete(count, requests, attempt, [](auto& completing) { completing.completed_all(); });
}

int Handler::Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept {
  return complete(
      count, requests, [&](int* done) { return PMPI_Testany(count, requests, index, done, status); },
      [&](auto& completing) { completing.completed(*index); });
}

int Handler::Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) noexcept {
  return complete(
      count, requests,
      [&](int* done) {
        const int result = PMPI_Testsome(count, requests, completed, indices, statuses);
        *done = *completed != 0 ? 1 : 0;  // MPI_UNDEFINED: there is nothing to wait for
        return result;
      },
      [&](auto& completing) {
        for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) completing.completed(indices[i]);
      });
}

// What only looks, looks once.
template <class Completed>
int Handler::look(int count, MPI_Request* requests, const Completed& completed) {
  return complete(
      count, requests,
      [&](int* done) {
        *done = 1;
        return native_.look();
      },
      completed);
}

int Handler::Test(MPI_Request* request, int* flag, MPI_Status*) noexcept {
  return look(1, request, [&](auto& completing) {
    if (*flag != 0) completing.completed_all();
  });
}

int Handler::Testall(int count, MPI_Request* requests, int* flag, MPI_Status*) noexcept {
  return look(count, requests, [&](auto& completing) {
    if (*flag != 0) completing.completed_all();
  });
}

int Handler::Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status*) noexcept {
  return look(count, requests, [&](auto& completing) {
    if (*flag != 0) completing.completed(*index);
  });
}

int Handler::Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status*) noexcept {
  return look(count, requests, [&](auto& completing) {
    for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) completing.completed(indices[i]);
  });
}

int Handler::Request_get_status(MPI_Request, int*, MPI_Status*) noexcept {
  return drive([&](int* done) {
    *done = 1;
    return native_.look();
  });
}

int Handler::Request_free(MPI_Request* request) noexcept {
  Requests& ours = Runtime::get().requests();
  if (ours.any() && request != nullptr) ours.forget(*request);
  PersistentCalls& calls = Runtime::get().persistent_calls();
  if (calls.any() && request != nullptr) calls.forget(*request);
  return native_();
}

int Handler::Win_free(MPI_Win* window) noexcept {
  OpenOperations& open = Runtime::get().open_operations();
  if (window != nullptr) open.windows_in_need().remove(*window);
  const int result = native_();
  if (result == MPI_SUCCESS) open.window_freed();
  return result;
}

int Handler::Start(MPI_Request* request) noexcept { return Startall(1, request); }

int Handler::Startall(int count, MPI_Request* requests) noexcept {
  Runtime& runtime = Runtime::get();
  Requests& observed = runtime.requests();
  PersistentCalls& calls = runtime.persistent_calls();
  const ReentryGuard guard;
  for (int i = 0; observed.any() && requests != nullptr && i < count; ++i) observed.start(requests[i], caller_);
  const int result = native_();
  if (result != MPI_SUCCESS || requests == nullptr) return result;
  for (int i = 0; i < count; ++i) runtime.open_operations().started_again(requests[i]);
  if (!calls.any()) return result;
  for (int i = 0; i < count; ++i) {
    const Algorithm* algorithm = calls.start(requests[i]);
    if (algorithm != nullptr) runtime.count(algorithm->collective, algorithm, Form::non_blocking);
  }
  runtime.background().wake();
  return result;
}

}  // namespace stretto::mpi
