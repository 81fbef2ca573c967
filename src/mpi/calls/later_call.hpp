// A non-blocking or persistent collective on its way through Stretto.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "mpi/calls/known_calls.hpp"
#include "mpi/calls/prepared_call.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/entry/native.hpp"

namespace stretto::mpi {

/// Where the request of a call goes that only starts or, as MPI_X_init's, is only made.
struct Later {
  MPI_Request* request;
  bool persistent;
  const Algorithm** served;  // set where Stretto serves the call
};

class LaterCall {
 public:
  using Origin = Later;
  LaterCall(const PlainCall& call, Later later);

  /// That is for blocking calls.
  static constexpr std::optional<int> serve_if_known(const NativeCall&, const PlainCall&, const Operands&) {
    return {};
  }

  bool root_is_valid(int root) const { return ours() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return ours() && communicator_->rank == rank; }
  int rank() const { return ours() ? communicator_->rank : 0; }
  int size() const { return ours() ? communicator_->size : 0; }
  /// Whether the user wants it to be Stretto's, and it can be.
  bool ours() const { return communicator_ != nullptr; }

  /// Starts the call, or makes it, or leaves it to the MPI library; the same on all ranks. `prepare(prepared)` fills
  /// what is made of `arguments`; false for what Stretto cannot serve.
  template <class Prepared, class Prepare, class... Arguments>
  int serve(const NativeCall& native, const Prepare& prepare, Arguments... arguments) {
    if (!ours()) return pass_on(native);
    auto prepared = std::make_unique<Prepared>(arguments...);
    if (!prepare(*prepared)) return pass_on(native);
    return begin(native, std::move(prepared));
  }
  /// The MPI library's own in segments are for blocking calls.
  static constexpr bool is_native_in_segments() { return false; }
  template <class Prepared, class Prepare, class Start>
  int run_segments(const NativeCall& native, const Prepare&, const Start&) {
    return pass_on(native);
  }

 private:
  int begin(const NativeCall& native, std::unique_ptr<PreparedCall> prepared);
  int pass_on(const NativeCall& native);

  const ReentryGuard guard_;
  Runtime& runtime_;
  Collective collective_;
  Later later_;
  Communicator* communicator_ = nullptr;
  const Algorithm* algorithm_ = nullptr;
};

}  // namespace stretto::mpi
