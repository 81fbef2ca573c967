// An arena: memory that all processes of a node have had in common since MPI_Init, of which those who get together
// later take parts. No system call is needed then, and whoever knows where a part begins has it.
//
// A part is taken by one process, for a number of holders. When all of them have let it go, the process that took it
// may take it again: so the parts that are free are its own affair, and all that processes share is how far the arena
// has been given out, and how many still hold a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/atomic.hpp"

namespace stretto::shm {

class Arena {
 public:
  /// Where parts begin, in units of this; also how they are aligned.
  static constexpr std::size_t kLine = 128;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `memory`: of `bytes` bytes, zeroed, aligned to kLine. `given_out`: in memory that the processes share, 0 at first.
  void open(std::byte* memory, std::size_t bytes, Atomic<std::uint64_t>& given_out);

  /// The number of a part of `bytes` bytes for so many holders; nullopt if there is none. The part is as its last
  /// holders have left it, who took one of as many bytes; a new one is zeroed.
  std::optional<std::uint32_t> take(std::size_t bytes, std::uint32_t holders);
  /// By whoever took it, where no other holder has come to know of it.
  void take_back(std::uint32_t part);
  /// By each of its holders, who does not touch it any more.
  void let_go(std::uint32_t part);

  std::byte* memory_of(std::uint32_t part) const;

 private:
  struct Header {  // in front of a part's memory
    Atomic<std::uint32_t> holders;
  };
  static_assert(sizeof(Header) <= kLine);
  Header& header(std::uint32_t part) const { return *reinterpret_cast<Header*>(memory_ + part * kLine); }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Atomic<std::uint64_t>* given_out_ = nullptr;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::uint32_t>> taken_;  // by this process, by size; some are free
};

}  // namespace stretto::shm
