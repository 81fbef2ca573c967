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

  std::size_t size_bytes() const { return receive_.size(); }
  // Fresh data that belong to `call`, and a receive buffer that holds none of the result.
  void prepare(std::uint64_t call, int root, Values values);
  void run(const CallTable& calls);
  // What is wrong on this rank, or empty.
  std::optional<std::string> find_error() const;
  // Of the result, for comparing ranks.
  std::uint64_t result_hash() const;

 private:
  bool has_result() const;

  const Options& options_;
  const World& world_;
  CaseData data_;
  int root_ = 0;
  MPI_Datatype datatype_;
  MPI_Op operation_;
  std::vector<std::byte> send_;
  std::vector<std::byte> receive_;
  std::vector<std::byte> mine_;  // one period of this rank's data
};

}  // namespace stretto::bench
