// NodeMemory: what the engines of all communicators share of a node's memory, within one bound
// (docs/decisions/0022-memory-of-a-node.md).
//
// Segments are made and attached by those who share them; here is what all of them take together, counted in a word
// that all processes of the node see, and which pools there are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/pool.hpp"
#include "core/atomic.hpp"
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

 private:
  NodeMemory* counted_by_ = nullptr;
  shm::Segment segment_;
};

/// A pool and its memory; the same in all processes that share it.
struct NodePool {
  Pool pool;
  CountedSegment segment;

  void move_to(CountedSegment larger) {  // no rank is in a call
    segment = std::move(larger);
    pool = {segment.memory(), segment.bytes()};
  }
};

class NodeMemory {
 public:
  /// The bound that this process wants: what the user has set, else an eighth of what the node, or the control group,
  /// has. Bytes.
  static std::size_t wanted_limit(std::optional<std::size_t> set);

  /// Makes the word that counts: one process of the node.
  shm::SegmentName make_ledger();
  /// Goes by it: all others. Where it cannot be had a process counts by itself.
  void attach_ledger(const shm::SegmentName& ledger);
  /// All processes have attached, and agreed on the bound.
  void open(std::size_t limit) {
    limit_ = limit;
    ledger_segment_.close_descriptor();
  }

  std::size_t limit() const { return limit_; }
  /// New zeroed memory within the bound; empty, with `error`, if there is no more.
  CountedSegment create(std::size_t bytes, std::string& error);
  /// The pool of the ranks `mates` of this node, in terms of the world. `shared`: all calls of these ranks, on
  /// whichever communicator, come in the same order.
  std::shared_ptr<NodePool> pool_of(const std::vector<int>& mates, bool shared);

 private:
  friend class CountedSegment;
  using Word = Atomic<std::uint64_t>;
  Word& used() { return ledger_ == nullptr ? own_ledger_ : *ledger_; }
  void give_back(std::size_t bytes) { used().fetch_add(-bytes, std::memory_order_relaxed); }

  std::size_t limit_ = 0;
  shm::Segment ledger_segment_;
  Word* ledger_ = nullptr;
  Word own_ledger_{};
  std::map<std::vector<int>, std::weak_ptr<NodePool>> pools_;
};

}  // namespace stretto::mpi
