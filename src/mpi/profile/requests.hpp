// Requests of non-blocking and persistent collectives whose completion the profile waits for.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/profile/call_site.hpp"
#include "mpi/profile/profile_file.hpp"

namespace stretto::mpi {

class Profiler;

class Requests {
 public:
  explicit Requests(Profiler& profiler) : profiler_(profiler) {}

  /// Nobody need look at requests otherwise.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

  void add(MPI_Request request, profile::Ticket ticket);
  /// `record`: what every start of it records.
  void add_persistent(MPI_Request request, const profile::Record& record);
  /// Before MPI_Start: a call of a persistent collective begins.
  void start(MPI_Request request, const Caller& caller);
  void forget(MPI_Request request);

 private:
  friend class Completing;
  struct Pending {
    profile::Ticket ticket;  // none: a persistent request that is not active
    profile::Record record;
    bool persistent;
  };

  Profiler& profiler_;
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::unordered_map<MPI_Request, Pending> pending_;
};

/// Around an MPI call that may complete some of `requests`, which it overwrites.
class Completing {
 public:
  Completing(Requests& requests, const MPI_Request* handles, int count);
  /// The MPI call has returned, and completed handles[index].
  void completed(int index);
  void completed_all();
  /// Adds the time spent to those that are not complete.
  ~Completing();
  Completing(const Completing&) = delete;
  Completing& operator=(const Completing&) = delete;

 private:
  struct Ours {
    int index;
    MPI_Request handle;
    bool done;
  };
  void end(Ours& ours);

  Requests& requests_;
  std::int64_t begin_ns_;
  std::vector<Ours> ours_;
};

}  // namespace stretto::mpi
