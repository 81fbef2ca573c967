#include "mpi/calls/interception.hpp"

namespace stretto::mpi {

Interception::Interception(Collective collective, Operation operation, MPI_Comm comm, const CallSite& site)
    : runtime_(Runtime::get()),
      collective_(collective),
      comm_(comm),
      communicator_(needs_state() ? runtime_.communicator(comm) : nullptr),
      observation_(runtime_.profiler(), communicator_, operation, {0, site.caller}) {
  if (!observation_.wanted()) return;
  site.describe(observation_);
  observation_.begin();
}

Interception::~Interception() {
  runtime_.count(collective_, algorithm_);
  observation_.ran(algorithm_);
}

bool Interception::select(const PreparedCall& prepared) {
  const Call& call = prepared.call();
  if (!eligible()) return false;
  if (!may_serve(runtime_.configuration(), collective_, call.bytes(), communicator_->size)) return false;
  Engine& engine = runtime_.engine(*communicator_, comm_);
  const Choice& choice = runtime_.configuration().choice(collective_);
  const bool forced = choice.kind == Choice::Kind::forced;
  if (forced && choice.algorithm->uses_node_memory()) engine.ensure_boards();
  if (forced && choice.algorithm->needs.words) engine.ensure_words();
  const auto facts = [&] {
    return CallFacts{collective_,
                     call.bytes(),
                     call.element_bytes,
                     prepared.commutative(),
                     communicator_->size,
                     engine.shares_memory(),
                     engine.max_pool_window(),
                     engine.recent_skew_ns(),
                     engine.may_begin_ahead(),
                     engine.shared_nodes(),
                     engine.has_words()};
  };
  const Algorithm* chosen = choose(runtime_.configuration(), facts());
  if (chosen != nullptr && chosen->needs_pool(call.bytes(), communicator_->size)) {
    const std::size_t bytes = chosen->messages_in_pool(communicator_->size) * call.bytes();
    // A pool that cannot be had is known to be so from now on: choose again.
    if (!engine.ensure_pool(bytes)) chosen = choose(runtime_.configuration(), facts());
  }
  if (chosen != nullptr) engine.ensure_insides(*chosen, runtime_.configuration(), chosen == choice.algorithm);
  algorithm_ = chosen;
  if (chosen != nullptr && chosen->needs_prediction() && !engine.anticipates(collective_))
    runtime_.anticipate(engine, collective_);
  return chosen != nullptr;
}

}  // namespace stretto::mpi
