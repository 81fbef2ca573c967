// One collective at one size: its buffers, its call and the proof that its result is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "world.hpp"

namespace stretto::bench {

// What the data of a call look like.
enum class Values {
  exact,  // small integers, whose sums are exact in any order: every element is compared bit for bit
  rough,  // fractions of many magnitudes: the result may differ in the last bits, but not between ranks
};

// Data repeat after a period; of each of several blocks one.
using Periods = std::vector<std::vector<std::byte>>;

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
  template <typename Element>
  void fill_tables(std::uint64_t call, Values values);
  template <typename Element>
  std::optional<std::string> compare_result() const;
  void choose_blocks();

  const Options& options_;
  const World& world_;
  std::size_t size_bytes_;  // of one rank's block where each rank has one
  std::size_t count_;
  std::size_t period_;  // elements after which the data repeat; prime, so that no chunk size can hide a shift
  int root_ = 0;
  Values values_ = Values::exact;
  MPI_Datatype datatype_;
  MPI_Op operation_;
  std::vector<std::byte> send_;
  std::vector<std::byte> receive_;
  Periods of_rank_;  // the data of each rank
  std::vector<std::byte> combined_;
  Periods sent_;                   // by block of the send buffer; empty: nothing
  Periods expected_;               // by block of the right result; empty: this rank has none
  std::vector<double> magnitude_;  // one period of the sum of absolute values, for the tolerance of rough values
};

}  // namespace stretto::bench
