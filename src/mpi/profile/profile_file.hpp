// ProfileFile: a rank's records and facts, in a memory-mapped file that survives whatever kills the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "mpi/profile/format.hpp"

namespace stretto::profile {

/// A record that has begun. Its place may have been taken by a later one when it ends.
struct Ticket {
  Record* record = nullptr;
  std::uint64_t number = 0;
};

/// Any number of threads may begin and end records at once.
class ProfileFile {
 public:
  struct Place {
    std::string directory;
    int world_rank;
    int world_size;
    std::uint64_t run;
    std::size_t max_bytes;  // the file's bound
    bool group_may_read;    // else only its owner
  };

  ProfileFile() = default;
  ~ProfileFile() { close(); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  /// Makes the file, and the directory, or writes over an earlier profile of this user's; over nothing else, and not
  /// through a link. False, with `error` set, if that cannot be done.
  bool open(const Place& place, std::string& error);
  bool is_open() const { return header_ != nullptr; }
  /// Cuts off what is reserved but not used.
  void close();

  /// Writes a record without its end. The ticket has no record if the disk is full; that is counted.
  Ticket begin(const Record& record);
  /// The record is still there.
  bool holds(const Ticket& ticket) const {
    return ticket.record != nullptr && is_open() &&
           header_->records_begun.load(std::memory_order_relaxed) - ticket.number <= header_->records_capacity;
  }
  /// `json`: an object without line breaks. Where there is no room for it that is counted.
  void add_fact(const std::string& json);
  /// MPI_Finalize was reached.
  void mark_finished() { header_->finished = 1; }

 private:
  bool grow(std::uint64_t records);
  bool grow_facts(std::size_t bytes);

  int descriptor_ = -1;
  std::size_t reserved_bytes_ = 0;  // of address space: the file's bound
  std::size_t most_facts_bytes_ = 0;
  std::size_t backed_facts_bytes_ = 0;  // by space on the disk
  FileHeader* header_ = nullptr;
  Record* ring_ = nullptr;
  std::atomic<std::uint64_t> backed_records_{0};  // by space on the disk
  std::atomic<bool> disk_full_{false};
  std::mutex mutex_;  // of growing and of facts
};

/// `text` as a JSON string, quotes included.
std::string json_string(std::string_view text);

}  // namespace stretto::profile
