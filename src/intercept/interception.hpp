// One call of a collective on its way through Stretto.
#pragma once

#include <mpi.h>

#include "intercept/handlers.hpp"
#include "intercept/native.hpp"
#include "intercept/native_segments.hpp"
#include "intercept/observation.hpp"
#include "intercept/runtime.hpp"

namespace stretto::intercept {

/// Selected, run or passed on, observed, counted.
class Interception {
 public:
  Interception(Collective collective, Operation operation, MPI_Comm comm, const CallSite& site);
  ~Interception();
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;

  /// Chooses the algorithm by what all ranks know alike of `call`; false if the call is to be passed on. The same on
  /// all ranks.
  bool select(const Call& call, bool commutative);

  int run(const Call& call) {
    observation_.arrived(communicator_->engine->run(*algorithm_, call));
    return MPI_SUCCESS;
  }

  /// Whether the user wants the MPI library's own in segments: `native+4`.
  bool wants_native_segments() const { return eligible() && native_segments() != nullptr; }
  /// What select() has left to the MPI library: in segments where they are wanted, by `start`, see run_native_segments.
  template <class Start>
  int pass_on(const NativeCall& native, const Call& call, const Start& start) {
    if (!wants_native_segments() || !segments_fit(native_segments()->pipelining, call)) return native();
    algorithm_ = native_segments();
    return run_native_segments(algorithm_->pipelining, call, start);
  }

  bool root_is_valid(int root) const { return eligible() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return eligible() && communicator_->rank == rank; }
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

}  // namespace stretto::intercept
