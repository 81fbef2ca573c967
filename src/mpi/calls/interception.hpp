// One call of a collective on its way through Stretto.
#pragma once

#include <mpi.h>

#include "mpi/calls/handlers.hpp"
#include "mpi/calls/native_segments.hpp"
#include "mpi/calls/prepared_call.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/entry/native.hpp"
#include "mpi/profile/observation.hpp"

namespace stretto::mpi {

/// Selected, run or passed on, observed, counted.
class Interception {
 public:
  Interception(Collective collective, Operation operation, MPI_Comm comm, const CallSite& site);
  ~Interception();
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;

  /// Chooses the algorithm by what all ranks know alike of the call; false if it is to be passed on. The same on all
  /// ranks.
  bool select(const PreparedCall& prepared);

  int run(PreparedCall& prepared) {
    observation_.arrived(communicator_->engine->run(*algorithm_, prepared.begin()));
    prepared.end();
    return MPI_SUCCESS;
  }

  /// What select() has left to the MPI library; where the user wants its own in segments (`native+4`), by `start`, see
  /// run_native_segments.
  template <class Start>
  int pass_on(const NativeCall& native, PreparedCall& prepared, const Start& start) {
    const Algorithm* segments = native_segments();
    if (segments == nullptr || !segments_fit(segments->pipelining, prepared.call())) return native();
    algorithm_ = segments;
    const int result = run_native_segments(segments->pipelining, prepared.begin(), start);
    prepared.end();
    return result;
  }

  /// Whether any call of this collective on this communicator may be ours.
  bool is_candidate() const { return eligible() && may_serve(runtime_.configuration(), collective_); }
  bool root_is_valid(int root) const { return eligible() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return eligible() && communicator_->rank == rank; }
  int rank() const { return communicator_->rank; }
  int size() const { return communicator_->size; }

 private:
  const Algorithm* native_segments() const {
    const Choice& choice = runtime_.configuration().choice(collective_);
    return choice.kind == Choice::Kind::native ? choice.algorithm : nullptr;
  }
  bool needs_state() const {
    return may_serve(runtime_.configuration(), collective_) || runtime_.profiler().active() ||
           native_segments() != nullptr;
  }
  bool eligible() const { return communicator_ != nullptr && communicator_->eligible; }

  const Inside inside_;
  Runtime& runtime_;
  Collective collective_;
  MPI_Comm comm_;
  Communicator* communicator_;
  const Algorithm* algorithm_ = nullptr;
  Observation observation_;
};

}  // namespace stretto::mpi
