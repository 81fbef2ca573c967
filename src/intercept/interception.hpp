// One call of a collective on its way through Stretto.
#pragma once

#include <mpi.h>

#include "intercept/handlers.hpp"
#include "intercept/native.hpp"
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

  bool root_is_valid(int root) const { return eligible() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return eligible() && communicator_->rank == rank; }
  int size() const { return communicator_->size; }

 private:
  bool needs_state() const { return may_serve(runtime_.configuration(), collective_) || runtime_.profiler().active(); }
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
