// The ranks of the benchmark and what they share beside the calls that they measure. None of it uses a collective that
// Stretto could have taken over.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "call_table.hpp"

namespace stretto::bench {

// A few words in memory that all ranks of the node see.
struct Board {
  alignas(64) std::atomic<std::uint64_t> arrived;
  alignas(64) std::atomic<std::int64_t> start_ns;
  alignas(64) std::atomic<double> number;
};

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm control() const { return control_; }
  // The node of each rank, from 0 in the order of their first ranks.
  const std::vector<int>& nodes() const { return nodes_; }
  // What a node's clock may be off by from rank 0's; 0 on one node.
  std::int64_t clock_error_ns() const { return clock_error_ns_; }
  // By how much times of two ranks may contradict each other, drift since the last comparison included.
  std::int64_t clock_tolerance_ns() const { return board_ != nullptr ? 0 : 2 * clock_error_ns_ + drift_allowance_ns; }
  const CallTable& native() const { return native_; }

  void barrier() const { native_.barrier(control_); }
  // A barrier whose waiting ranks sleep, so that they leave the cores to those still at work; they wake now and then to
  // drive the MPI library's progress, which a peer may need to finish.
  void quiet_barrier();
  // On several nodes: takes the nodes' clocks to be ahead of rank 0's by what round trips tell now.
  void compare_clocks();
  // After a barrier, one moment `lead_ns` ahead that all ranks know. Returns it.
  std::int64_t agree_on_start(std::int64_t lead_ns);
  // Rank 0's number on all ranks; waiting for it is quiet.
  double share(double number);
  // Each rank's `bytes` of data on rank 0 in rank order, elsewhere empty.
  std::vector<std::byte> gather(const void* data, std::size_t bytes) const;

  // Ends the program on all ranks with exit code 1.
  [[noreturn]] static void fail(const std::string& message);

 private:
  static constexpr std::int64_t drift_allowance_ns = 500'000;  // 50 us a second, for ten

  void find_nodes();
  void share_board();
  void wait_for(int source) const;

  int rank_ = 0;
  int size_ = 1;
  CallTable native_;
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<int> nodes_;
  Board* board_ = nullptr;  // where all ranks are on one node
  std::uint64_t quiet_target_ = 0;
  std::int64_t clock_error_ns_ = 0;
};

}  // namespace stretto::bench
