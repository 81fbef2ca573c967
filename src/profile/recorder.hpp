// Recorder: one line per collective call of this rank, in a memory-mapped file that survives whatever kills the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "algorithms/registry.hpp"

namespace stretto {

/// One record in the file: little endian, 64 bytes, described in python/stretto/records.py.
struct Record {
  std::int64_t arrival_ns;  // CLOCK_MONOTONIC
  std::int64_t exit_ns;
  std::uint64_t bytes;
  std::uint32_t sequence;      // number of the call on its communicator
  std::uint32_t communicator;  // the same on all its ranks; 0 is MPI_COMM_WORLD
  std::uint16_t collective;
  std::uint16_t ranks;
  std::int32_t root;
  char algorithm[24];
};
static_assert(sizeof(Record) == 64);

class Recorder {
 public:
  ~Recorder();

  /// Opens `directory`/rank-NNNNN.stretto. False, with `error` set, if that cannot be done.
  bool open(const std::string& directory, int world_rank, int world_size, std::string& error);
  bool active() const { return header_ != nullptr; }
  void add(Record record, std::string_view algorithm);

 private:
  struct Header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint32_t record_bytes;
    std::int32_t world_rank;
    std::int32_t world_size;
    std::uint32_t reserved;
    char host[24];
    std::uint64_t record_count;
  };
  static_assert(sizeof(Header) == 64);
  static constexpr std::size_t kGrowRecords = 16384;

  bool grow();

  std::mutex mutex_;
  int descriptor_ = -1;
  std::size_t mapped_bytes_ = 0;
  Header* header_ = nullptr;
};

}  // namespace stretto
