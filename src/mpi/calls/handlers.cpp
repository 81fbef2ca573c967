#include "mpi/calls/handlers.hpp"

#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/entry/preload.hpp"
#include "stretto/stretto.h"

namespace stretto::mpi {
int Handler::Init(int* argc, char*** argv) noexcept {
  int provided = MPI_THREAD_SINGLE;
  return Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int Handler::Init_thread(int* argc, char*** argv, int, int* provided) noexcept {
  Runtime::get().check_environment();
  const ReentryGuard guard;
  const bool raise = Runtime::get().wants_thread();
  const int result = raise ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided) : native_();
  if (result != MPI_SUCCESS) return result;
  Runtime::get().start();
  leave_preload();
  return result;
}

#if STRETTO_SESSIONS
// A process without MPI_Init has no ranks to compare settings with and nothing to record under: all calls are the MPI
// library's, and nothing has to begin anew with the next session.
int Handler::Session_init(MPI_Info, MPI_Errhandler, MPI_Session*) noexcept {
  if (!Runtime::get().active()) Runtime::get().check_environment();
  const ReentryGuard guard;
  const int result = native_();
  if (result == MPI_SUCCESS) leave_preload();
  return result;
}
#endif

int Handler::Finalize() noexcept {
  const ReentryGuard guard;
  Runtime::get().finish();
  return native_();
}

// Here all its ranks are: when the MPI library lets go of it is its own affair, and MPICH does so as late as in the
// last MPI_Wait for something on it.
int Handler::Comm_free(MPI_Comm* comm) noexcept {
  if (comm != nullptr) {
    const ReentryGuard guard;
    Runtime::get().close(*comm);
  }
  return native_();
}

int Handler::Pcontrol(int level) noexcept {
  Runtime::get().profiler().set_recording(level > 0);
  return native_();
}

}  // namespace stretto::mpi

using stretto::Collective;

namespace {

struct Named {
  Collective collective;
  stretto::Form form;
};

// "allreduce", or "iallreduce" for the non-blocking and persistent forms.
std::optional<Named> collective_named(std::string_view name) {
  for (const Collective collective : stretto::kCollectives) {
    const std::string_view known = stretto::name_of(collective);
    if (name == known) return Named{collective, stretto::Form::blocking};
    if (!name.empty() && name.front() == 'i' && name.substr(1) == known) {
      return Named{collective, stretto::Form::non_blocking};
    }
  }
  return std::nullopt;
}

}  // namespace

int Stretto_force(const char* collective, const char* algorithm) {
  const auto which = collective_named(collective);
  if (!which) return STRETTO_UNKNOWN_COLLECTIVE;
  const auto choice = stretto::parse_choice(which->collective, algorithm, which->form);
  if (!choice) return STRETTO_UNKNOWN_ALGORITHM;
  stretto::mpi::Runtime& runtime = stretto::mpi::Runtime::get();
  const bool blocking = which->form == stretto::Form::blocking;
  if (!blocking && !runtime.configuration().non_blocking) return STRETTO_NOT_ACTIVE;
  runtime.configuration().choice(which->collective, which->form) = *choice;
  runtime.profiler().tell_algorithms();
  if (!blocking) return STRETTO_OK;
  const stretto::mpi::ReentryGuard guard;
  runtime.background().for_each(
      [&](stretto::mpi::Anticipation& one) { one.expect(which->collective, choice->algorithm); });
  runtime.background().wake();
  return STRETTO_OK;
}

int Stretto_compute_begin(void) {
  stretto::mpi::Runtime& runtime = stretto::mpi::Runtime::get();
  if (!runtime.active()) return STRETTO_NOT_ACTIVE;
  runtime.hints().begin(stretto::monotonic_ns());
  return STRETTO_OK;
}

int Stretto_progress_mark(double fraction) {
  using stretto::Hints;
  stretto::mpi::Runtime& runtime = stretto::mpi::Runtime::get();
  if (!runtime.active()) return STRETTO_NOT_ACTIVE;
  switch (runtime.hints().mark(fraction, stretto::monotonic_ns())) {
    case Hints::Answer::not_begun:
      return STRETTO_NOT_BEGUN;
    case Hints::Answer::bad_fraction:
      return STRETTO_BAD_FRACTION;
    case Hints::Answer::out_of_order:
      return STRETTO_MARK_OUT_OF_ORDER;
    case Hints::Answer::taken:
      break;
  }
  if (!runtime.may_call_mpi()) return STRETTO_OK;  // the others learn of it when this rank arrives
  const stretto::mpi::ReentryGuard guard;
  runtime.background().for_each([](stretto::mpi::Anticipation& one) { one.hint(); });
  runtime.background().wake();
  runtime.background().poll();
  return STRETTO_OK;
}

const char* Stretto_last_algorithm(const char* collective) {
  const auto which = collective_named(collective);
  if (!which) return nullptr;
  return stretto::mpi::Runtime::get().last_algorithm(which->collective, which->form);
}

int Stretto_measure_machine(const char* file) {
  const stretto::mpi::ReentryGuard guard;
  return stretto::mpi::Runtime::get().measure_machine(file);
}
