// Drives what goes on beside the program: a thread of its own, or the program's own MPI calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/engine/anticipation.hpp"

namespace stretto::mpi {

class BackgroundWork {
 public:
  BackgroundWork() = default;
  ~BackgroundWork() { stop(); }  // where the program ends without MPI_Finalize
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// What is wrong with `cores` on this machine; empty if nothing is.
  static std::string find_error(const std::vector<std::size_t>& cores);

  /// `threaded`: MPI allows calls from several threads at once, and a thread is wanted. It starts with the first work,
  /// and runs on `cores` only, unless there are none.
  void configure(bool threaded, std::vector<std::size_t> cores) {
    threaded_ = threaded;
    cores_ = std::move(cores);
  }

  /// Whether a thread is wanted and MPI allows it; alike on all ranks, whether or not the system gives one to each.
  bool is_threaded() const { return threaded_; }

  void add(Anticipation& anticipation);
  void remove(Anticipation& anticipation);
  void add(Driven& driven);
  void remove(Driven& driven);

  /// Lets the thread look, if there is work.
  void wake();
  /// Where there is no thread: from within the program's MPI calls and marks.
  void poll() {
    if (pollable_.load(std::memory_order_relaxed)) poll_all();
  }
  /// Whether or not there is a thread; returns whether anything could be done.
  bool poll_all();
  template <class Function>
  void for_each(const Function& function) {
    const std::scoped_lock lock(mutex_);
    for (Anticipation* anticipation : anticipations_) function(*anticipation);
  }
  /// Ends the thread, for good.
  void stop();

 private:
  void start();
  void run();
  bool look();
  bool any_work();

  std::atomic<bool> pollable_{false};
  std::atomic<bool> no_thread_{false};  // the system has refused one
  bool threaded_ = false;
  std::vector<std::size_t> cores_;
  std::mutex mutex_;  // of both
  std::vector<Driven*> all_;
  std::vector<Anticipation*> anticipations_;  // among them
  std::thread thread_;
  std::mutex sleep_;
  std::condition_variable woken_;
  bool awake_ = false;
  bool stopping_ = false;
};

}  // namespace stretto::mpi
