// A piece of memory that processes of one node share, without a name that a crash could leave behind.
//
// The creator makes an anonymous file (memfd); the others open it through /proc/<pid>/fd. The kernel frees it when the
// last process is gone, however it went. It ends with a random token, which those who open it must have been told:
// in another PID namespace the number of the process may be some other's, with a file as long. A page is placed, near
// who uses it, when it is first touched; only where the kernel promises no more memory than it has
// (vm.overcommit_memory=2) are all reserved before use, so that a full memory is an error here and not a SIGBUS later.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace stretto::shm {

/// What others of the node need to open a segment.
struct SegmentName {
  pid_t creator = -1;
  int descriptor = -1;
  std::uint64_t token = 0;
};

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept { *this = static_cast<Segment&&>(other); }
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  /// New zeroed memory. On failure the segment is empty and `error` says why.
  static Segment create(std::size_t bytes, std::string& error);
  static Segment attach(const SegmentName& name, std::size_t bytes, std::string& error);

  /// To be called when everyone has attached: nobody can from now on.
  void close_descriptor();

  /// Maps what has been written there, by other processes too, at once: first writes, page by page, cost twice as much.
  void map_placed(std::size_t first, std::size_t bytes);

  /// Frees all pages; they are zero when they are touched again. Not where memory is reserved before use. Nobody uses
  /// it meanwhile.
  void give_pages_back();

  explicit operator bool() const { return memory_ != nullptr; }
  std::byte* memory() const { return memory_; }
  std::size_t bytes() const { return bytes_; }
  /// Of one that this process has made, before close_descriptor().
  SegmentName name() const;

 private:
  static Segment map(int descriptor, std::size_t bytes, std::string& error);
  std::uint64_t& token() const { return *reinterpret_cast<std::uint64_t*>(memory_ + bytes_); }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace stretto::shm
