#include "mpi/calls/later_call.hpp"

namespace stretto::mpi {

LaterCall::LaterCall(const PlainCall& call, Later later)
    : runtime_(Runtime::get()), collective_(call.collective), later_(later) {
  const Choice& choice = runtime_.configuration().choice(collective_, Form::non_blocking);
  if (choice.kind != Choice::Kind::forced || later.request == nullptr) return;
  Communicator* communicator = runtime_.communicator(call.comm);
  if (communicator == nullptr || !communicator->in_flight) return;
  communicator_ = communicator;
  algorithm_ = choice.algorithm;
}

int LaterCall::pass_on(const NativeCall& native) {
  if (!later_.persistent) runtime_.count(collective_, nullptr, Form::non_blocking);
  return native();
}

int LaterCall::begin(const NativeCall& native, std::unique_ptr<PreparedCall> prepared) {
  const bool right = !algorithm_->needs.commutative || prepared->outline().commutative;
  const bool steady = algorithm_->deterministic || !runtime_.configuration().deterministic;
  if (!right || !steady || !prepared->outlast_its_mpi_call()) return pass_on(native);
  InFlight& engine = *communicator_->in_flight;
  *later_.served = algorithm_;
  if (later_.persistent) {
    auto call = engine.make_persistent(std::move(prepared), *algorithm_, later_.request);
    if (!call) {
      *later_.served = nullptr;
      return native();
    }
    runtime_.persistent_calls().add(*later_.request, std::move(call));
    return MPI_SUCCESS;
  }
  runtime_.count(collective_, algorithm_, Form::non_blocking);
  const int result = engine.start(std::move(prepared), *algorithm_, later_.request);
  runtime_.background().wake();
  return result;
}

}  // namespace stretto::mpi
