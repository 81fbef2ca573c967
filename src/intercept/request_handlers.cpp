// What may start or complete a non-blocking collective: observed only while the profile waits for one.
#include "intercept/handlers.hpp"
#include "intercept/runtime.hpp"

namespace stretto::intercept {

// `completed(completing)` tells which requests the call has completed.
template <class Completed>
int Handler::complete(int count, MPI_Request* requests, const Completed& completed) {
  Requests& ours = Runtime::get().requests();
  if (!ours.any()) return native_();
  const Inside inside;
  Completing completing(ours, requests, count);
  const int result = native_();
  if (result == MPI_SUCCESS) completed(completing);
  return result;
}

int Handler::Wait(MPI_Request* request, MPI_Status*) noexcept {
  return complete(1, request, [](Completing& completing) { completing.completed_all(); });
}

int Handler::Waitall(int count, MPI_Request* requests, MPI_Status*) noexcept {
  return complete(count, requests, [](Completing& completing) { completing.completed_all(); });
}

int Handler::Waitany(int count, MPI_Request* requests, int* index, MPI_Status*) noexcept {
  return complete(count, requests, [&](Completing& completing) { completing.completed(*index); });
}

int Handler::Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status*) noexcept {
  return complete(count, requests, [&](Completing& completing) {
    for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) completing.completed(indices[i]);
  });
}

int Handler::Test(MPI_Request* request, int* flag, MPI_Status*) noexcept {
  return complete(1, request, [&](Completing& completing) {
    if (*flag != 0) completing.completed_all();
  });
}

int Handler::Testall(int count, MPI_Request* requests, int* flag, MPI_Status*) noexcept {
  return complete(count, requests, [&](Completing& completing) {
    if (*flag != 0) completing.completed_all();
  });
}

int Handler::Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status*) noexcept {
  return complete(count, requests, [&](Completing& completing) {
    if (*flag != 0) completing.completed(*index);
  });
}

int Handler::Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) noexcept {
  return Waitsome(count, requests, completed, indices, statuses);
}

int Handler::Request_free(MPI_Request* request) noexcept {
  Requests& ours = Runtime::get().requests();
  if (ours.any() && request != nullptr) ours.forget(*request);
  return native_();
}

int Handler::Start(MPI_Request* request) noexcept { return Startall(1, request); }

int Handler::Startall(int count, MPI_Request* requests) noexcept {
  Requests& ours = Runtime::get().requests();
  if (!ours.any()) return native_();
  const Inside inside;
  for (int i = 0; requests != nullptr && i < count; ++i) ours.start(requests[i], site_.caller);
  return native_();
}

}  // namespace stretto::intercept
