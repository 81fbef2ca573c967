#include "mpi/profile/observation.hpp"

#include "core/clock.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/profile/requests.hpp"

namespace stretto::mpi {

void Observation::prepare(MpiFunction operation, const Form& form) {
  const bool is_call = form.caller.address != nullptr;
  if (is_call) ++communicator_->sequence;
  wanted_ = !is_call || profiler_.wants(operation, communicator_->sequence);
  if (!wanted_) return;
  record_ = {};
  record_.arrival_ns = monotonic_ns();
  record_.sequence = communicator_->sequence;
  record_.communicator = communicator_->index;
  record_.operation = static_cast<std::uint16_t>(operation);
  record_.root = -1;
  record_.datatype = record_.reduction = record_.place = profile::kNone;
  record_.flags = form.flags;
  if (is_call) record_.call_site = profiler_.locate(form.caller);
}

void Observation::begin() {
  if (!wanted_) return;
  ticket_ = profiler_.file().begin(record_);
}

void Observation::end() {
  if (!profiler_.file().holds(ticket_)) return;
  const std::int64_t now = monotonic_ns();
  profile::Record& record = *ticket_.record;
  record.algorithm = record_.algorithm;
  record.place = record_.place;
  record.flags = record_.flags;
  record.inside_ns = now - record_.arrival_ns;
  std::atomic_ref(record.exit_ns).store(now, std::memory_order_release);
  ticket_.record = nullptr;
}

Observation& Observation::in_place(const void* buffer) {
  if (buffer == MPI_IN_PLACE) record_.flags |= profile::kInPlace;
  return *this;
}

Observation& Observation::rooted(int root) {
  record_.root = root;
  return *this;
}

Observation& Observation::reduces(MPI_Op op) {
  record_.reduction = profiler_.number_of(op);
  return *this;
}

Observation& Observation::data(MPI_Count count, MPI_Datatype datatype) {
  // A root of an intercommunicator and its neighbours may leave null what does not matter.
  if (datatype == MPI_DATATYPE_NULL || count < 0) return *this;
  int size = 0;
  PMPI_Type_size(datatype, &size);
  record_.bytes = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  record_.datatype = profiler_.number_of(datatype, static_cast<std::size_t>(size));
  return *this;
}

Observation& Observation::times_ranks() {
  record_.bytes *= static_cast<std::uint64_t>(communicator_->size);
  return *this;
}

int Observation::neighbours() const { return communicator_->out_neighbours; }

void Observation::hand_over(MPI_Request request) {
  if (!wanted_) return;
  Requests& requests = Runtime::get().requests();
  if (record_.call_site == 0) {
    record_.communicator = profiler_.introduce_persistent(*communicator_, ++communicator_->persistent);
    requests.add_persistent(request, record_);
    return;
  }
  if (profiler_.file().holds(ticket_)) {
    ticket_.record->algorithm = record_.algorithm;
    ticket_.record->inside_ns = monotonic_ns() - record_.arrival_ns;
    requests.add(request, ticket_);
  }
  ticket_.record = nullptr;
}

}  // namespace stretto::mpi
