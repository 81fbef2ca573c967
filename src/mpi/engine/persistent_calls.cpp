#include "mpi/engine/persistent_calls.hpp"

#include <algorithm>

namespace stretto::mpi {

bool PersistentCalls::any_of(const InFlight& engine) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(calls_, [&](const auto& call) { return &call.second->engine() == &engine; });
}

void PersistentCalls::add(MPI_Request request, std::unique_ptr<InFlight::Persistent> call) {
  const std::scoped_lock lock(mutex_);
  calls_[request] = std::move(call);
  count_.store(calls_.size(), std::memory_order_relaxed);
}

const Algorithm* PersistentCalls::start(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(request);
  if (found == calls_.end()) return nullptr;
  found->second->start();
  return &found->second->algorithm();
}

void PersistentCalls::forget(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  calls_.erase(request);
  count_.store(calls_.size(), std::memory_order_relaxed);
}

}  // namespace stretto::mpi
