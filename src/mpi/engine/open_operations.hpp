// What the program has under way in MPI: a rank that waits in a collective of ours must then let MPI go on, as others
// may need it for a rendezvous, an atomic operation or a non-blocking collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace stretto::mpi {

/// Windows on which a call waits for the rank whose memory it is, where that sleeps: the MPI library does not tell, but
/// it takes long then. Where the memory is shared, or the network reads and writes it, no rank need be woken.
class WindowsInNeed {
 public:
  bool contains(MPI_Win window) {
    if (!any_.load(std::memory_order_relaxed)) return false;
    const std::scoped_lock lock(mutex_);
    return std::ranges::find(windows_, window) != windows_.end();
  }
  void add(MPI_Win window) {
    const std::scoped_lock lock(mutex_);
    windows_.push_back(window);
    any_.store(true, std::memory_order_relaxed);
  }
  void remove(MPI_Win window) {
    const std::scoped_lock lock(mutex_);
    std::erase(windows_, window);
  }

 private:
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<MPI_Win> windows_;
};

class OpenOperations {
 public:
  /// Requests that are not known to be complete, and windows.
  const std::atomic<int>& count() const { return count_; }
  bool any_requests() const { return requests_.load(std::memory_order_relaxed) > 0; }

  WindowsInNeed& windows_in_need() { return windows_in_need_; }

  void window_made() { count_.fetch_add(1, std::memory_order_relaxed); }
  void window_freed() { count_.fetch_sub(1, std::memory_order_relaxed); }
  void started() { add(1); }
  /// A request that stays when it is complete.
  void started_again(MPI_Request persistent) {
    add(1);
    const std::scoped_lock lock(mutex_);
    active_.push_back(persistent);
  }

  static int count_live(int count, const MPI_Request* requests) {
    if (requests == nullptr) return 0;
    return static_cast<int>(
        std::count_if(requests, requests + count, [](MPI_Request each) { return each != MPI_REQUEST_NULL; }));
  }
  /// So many requests have become null. One that the program frees under way stays open, as nobody learns of its end.
  void completed_for_good(int requests) {  // not an overload: MPICH's requests are numbers
    if (requests > 0) add(-requests);
  }
  /// The same of one that may be persistent, and then is still there.
  void completed(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return;
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(active_, request);
    if (found == active_.end()) return;
    *found = active_.back();
    active_.pop_back();
    add(-1);
  }

 private:
  void add(int requests) {
    count_.fetch_add(requests, std::memory_order_relaxed);
    requests_.fetch_add(requests, std::memory_order_relaxed);
  }

  WindowsInNeed windows_in_need_;
  std::atomic<int> count_{0};
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  std::vector<MPI_Request> active_;  // persistent ones: few, and completed in the order of their start as a rule
};

}  // namespace stretto::mpi
