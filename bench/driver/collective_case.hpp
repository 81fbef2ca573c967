// One collective at one size on one rank: its buffers, its call and the proof that its result is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "case_data.hpp"
#include "world.hpp"

namespace stretto::bench {

class CollectiveCase {
 public:
  CollectiveCase(const Options& options, const World& world, std::size_t size_bytes);

  std::size_t size_bytes() const { return size_bytes_; }
  // Fresh data that belong to `call`, and a receive buffer that holds none of the result.
  void prepare(std::uint64_t call, int root, Values values);
  // Drives the buffers out of this core's caches.
  void cool() const;
  void run(const CallTable& calls, MPI_Comm communicator);
  // What is wrong on this rank, or empty.
  std::optional<std::string> find_error() const;
  // Of the result, for comparing ranks.
  std::uint64_t result_hash() const;

 private:
  void run_with_lengths(const CallTable& calls, MPI_Comm communicator);

  const Options& options_;
  const World& world_;
  std::size_t size_bytes_;  // of one rank's block where each rank has one
  CaseData data_;
  int root_ = 0;
  MPI_Datatype datatype_;
  MPI_Op operation_;
  std::vector<int> counts_;         // of those with a length for each rank: the same one for all
  std::vector<int> displacements_;  // of blocks that lie one behind the other
  std::vector<std::byte> send_;
  std::vector<std::byte> receive_;
  Periods sent_;      // by block of the send buffer
  Periods expected_;  // by block of the right result; empty: this rank has none
};

}  // namespace stretto::bench
