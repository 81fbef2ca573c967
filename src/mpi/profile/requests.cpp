#include "mpi/profile/requests.hpp"

#include "core/clock.hpp"
#include "mpi/profile/profiler.hpp"

namespace stretto::mpi {

void Requests::add(MPI_Request request, profile::Ticket ticket) {
  if (request == MPI_REQUEST_NULL) return;
  const std::scoped_lock lock(mutex_);
  pending_[request] = {ticket, {}, false};
  count_.store(pending_.size(), std::memory_order_relaxed);
}

void Requests::add_persistent(MPI_Request request, const profile::Record& record) {
  const std::scoped_lock lock(mutex_);
  pending_[request] = {{}, record, true};
  count_.store(pending_.size(), std::memory_order_relaxed);
}

void Requests::start(MPI_Request request, const Caller& caller) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  ++pending.record.sequence;
  if (!profiler_.wants(static_cast<MpiFunction>(pending.record.operation), pending.record.sequence)) return;
  pending.record.call_site = profiler_.locate(caller);
  pending.record.arrival_ns = monotonic_ns();
  pending.ticket = profiler_.file().begin(pending.record);
}

void Requests::forget(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  pending_.erase(request);
  count_.store(pending_.size(), std::memory_order_relaxed);
}

Completing::Completing(Requests& requests, const MPI_Request* handles, int count)
    : requests_(requests), begin_ns_(monotonic_ns()) {
  const std::scoped_lock lock(requests_.mutex_);
  for (int index = 0; handles != nullptr && index < count; ++index) {
    if (requests_.pending_.contains(handles[index])) ours_.push_back({index, handles[index], false});
  }
}

void Completing::completed(int index) {
  for (Ours& ours : ours_) {
    if (ours.index == index) end(ours);
  }
}

void Completing::completed_all() {
  for (Ours& ours : ours_) end(ours);
}

void Completing::end(Ours& ours) {
  ours.done = true;
  const std::int64_t now = monotonic_ns();
  const std::scoped_lock lock(requests_.mutex_);
  const auto found = requests_.pending_.find(ours.handle);
  if (found == requests_.pending_.end()) return;
  const profile::Ticket ticket = found->second.ticket;
  found->second.ticket = {};
  if (!found->second.persistent) requests_.pending_.erase(found);
  requests_.count_.store(requests_.pending_.size(), std::memory_order_relaxed);
  if (!requests_.profiler_.file().holds(ticket)) return;
  ticket.record->inside_ns += now - begin_ns_;
  std::atomic_ref(ticket.record->exit_ns).store(now, std::memory_order_release);
}

Completing::~Completing() {
  const std::int64_t now = ours_.empty() ? 0 : monotonic_ns();
  for (const Ours& ours : ours_) {
    if (ours.done) continue;
    const std::scoped_lock lock(requests_.mutex_);
    const auto found = requests_.pending_.find(ours.handle);
    if (found == requests_.pending_.end() || !requests_.profiler_.file().holds(found->second.ticket)) continue;
    found->second.ticket.record->inside_ns += now - begin_ns_;
  }
}

}  // namespace stretto::mpi
