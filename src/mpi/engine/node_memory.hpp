// NodeMemory: what the engines of all communicators share of a node's memory, within one bound
// (docs/decisions/0022-memory-of-a-node.md).
//
// Segments are made and attached by those who share them; here is what all processes of the node have in common, such
// as a word that counts what all segments take together, and which pools there are.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/pool.hpp"
#include "core/atomic.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/doorbell.hpp"
#include "transport/shm/segment.hpp"

namespace stretto::mpi {

class NodeMemory;

/// A segment that counts towards the bound of its node, where this process has made it.
class CountedSegment {
 public:
  CountedSegment() = default;
  CountedSegment(NodeMemory* counted_by, shm::Segment segment)
      : counted_by_(counted_by), segment_(std::move(segment)) {}
  CountedSegment(CountedSegment&& other) noexcept { *this = std::move(other); }
  CountedSegment& operator=(CountedSegment&& other) noexcept;
  ~CountedSegment();

  explicit operator bool() const { return static_cast<bool>(segment_); }
  std::byte* memory() const { return segment_.memory(); }
  std::size_t bytes() const { return segment_.bytes(); }
  shm::SegmentName name() const { return segment_.name(); }
  void close_descriptor() { segment_.close_descriptor(); }
  void give_pages_back() { segment_.give_pages_back(); }
  void map_placed(std::size_t first, std::size_t bytes) { segment_.map_placed(first, bytes); }

 private:
  NodeMemory* counted_by_ = nullptr;
  shm::Segment segment_;
};

/// A pool and its memory; the same in all processes that share it.
struct NodePool {
  Pool pool;
  CountedSegment segment;
  std::int64_t latest_use_ns = 0;  // of this process

  /// This rank is about to use `bytes` bytes of a half.
  void use(std::size_t half, std::size_t bytes);
  /// Gives its pages back if it has not been used for a second. No other rank may be about to use it.
  void give_back_if_idle();
  void move_to(CountedSegment larger) {  // no rank is in a call
    segment = std::move(larger);
    pool = {segment.memory(), segment.bytes()};
    halves_ = {};
  }

 private:
  struct Half {
    std::size_t used_bytes = 0;    // by calls that this process has taken part in: there are pages
    std::size_t mapped_bytes = 0;  // of these, in this process
  };
  bool has_pages() const { return halves_[0].used_bytes > 0 || halves_[1].used_bytes > 0; }

  std::array<Half, 2> halves_{};
};

class NodeMemory {
 public:
  /// The bound that this process wants: what the user has set, else an eighth of what the node, or the control group,
  /// has. Bytes.
  static std::size_t wanted_limit(std::optional<std::size_t> set);

  /// What all processes of the node have in common: one of them makes it, for the bound that it wants.
  struct CommonName {
    shm::SegmentName segment;
    std::size_t bytes;
  };
  CommonName make_common(std::size_t limit);
  /// The others go by it. Where it cannot be had a process counts by itself.
  void attach_common(const CommonName& name);
  bool has_common() const { return common_ != nullptr; }
  /// All processes have attached, and agreed on the bound, of which the arena takes a part.
  void open(std::size_t limit, bool all_have_common);
  /// Of the processes of this node. Where there is something in common.
  shm::Doorbell& doorbell() { return common_->doorbell; }
  /// Of the processes of this node; empty where not all of them, on all nodes, have something in common.
  shm::Arena& arena() { return arena_; }

  std::size_t limit() const { return limit_; }
  /// New zeroed memory within the bound; empty, with `error`, if there is no more.
  CountedSegment create(std::size_t bytes, std::string& error);
  /// The pool of the ranks `mates` of this node, in terms of the world. `shared`: all calls of these ranks, on
  /// whichever communicator, come in the same order.
  std::shared_ptr<NodePool> pool_of(const std::vector<int>& mates, bool shared);

 private:
  friend class CountedSegment;
  struct Common {
    Atomic<std::uint64_t> used;       // bytes, of the bound
    Atomic<std::uint64_t> given_out;  // of the arena, which follows
    shm::Doorbell doorbell;
  };
  Atomic<std::uint64_t>& used() { return common_ == nullptr ? own_used_ : common_->used; }
  void give_back(std::size_t bytes) { used().fetch_add(-bytes, std::memory_order_relaxed); }

  std::size_t limit_ = 0;
  bool made_common_ = false;
  shm::Segment common_segment_;
  Common* common_ = nullptr;
  shm::Arena arena_;
  Atomic<std::uint64_t> own_used_{};
  std::map<std::vector<int>, std::weak_ptr<NodePool>> pools_;
};

}  // namespace stretto::mpi
