// Persistent collectives that run on the engine, by the requests that the program holds for them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "mpi/engine/in_flight.hpp"

namespace stretto::mpi {

class PersistentCalls {
 public:
  /// Nobody need look at requests otherwise.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  bool any_of(const InFlight& engine);

  void add(MPI_Request request, std::unique_ptr<InFlight::Persistent> call);
  /// The request has been started. Returns the algorithm that serves the call, nullptr if it is none of ours.
  const Algorithm* start(MPI_Request request);
  /// Before MPI_Request_free.
  void forget(MPI_Request request);

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> count_{0};
  std::unordered_map<MPI_Request, std::unique_ptr<InFlight::Persistent>> calls_;
};

}  // namespace stretto::mpi
