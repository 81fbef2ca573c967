// Sights: what each rank of a node has seen of calls that were measured, told to the others in the memory that they
// share.
//
// There is memory for some kinds of calls. Of a kind ranks tell each other again and again: a telling has a number, and
// each rank has a row for even and one for odd ones. Whoever tells for the third time has heard the second, for which
// all have told it after they had heard the first: so nobody reads that any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/atomic.hpp"

namespace stretto {

/// A rank's view of a call, on the clock of the node.
struct Sight {
  std::int64_t arrival_ns;
  std::int64_t exit_ns;
};

class Sights {
 public:
  static constexpr std::size_t kKinds = 16;
  static constexpr std::size_t kMostCalls = 72;  // of a telling

  /// Bytes of zeroed, line-aligned shared memory.
  static std::size_t memory_bytes(int ranks);
  /// Makes zeroed again what as many ranks have used, and nobody uses any more.
  static void clear(std::byte* memory, int ranks);
  Sights(std::byte* memory, int ranks, int rank)
      : rows_(reinterpret_cast<Row*>(memory)),
        ranks_(static_cast<std::size_t>(ranks)),
        rank_(static_cast<std::size_t>(rank)) {}

  std::size_t ranks() const { return ranks_; }
  /// Telling `number`, from 1, of a kind, from 0; `cost_ns`: what hearing the one before has taken.
  void tell(std::size_t kind, std::uint64_t number, std::span<const Sight> mine, std::int64_t cost_ns);
  /// Whether the rank has.
  bool has_told(std::size_t kind, std::uint64_t number, std::size_t rank) const {
    return row(kind, number, rank).told.load(std::memory_order_acquire) == number;
  }
  /// What it has told of `calls` calls.
  struct Told {
    std::span<const Sight> calls;
    std::int64_t cost_ns;
  };
  Told told(std::size_t kind, std::uint64_t number, std::size_t rank, std::size_t calls) const {
    const Row& theirs = row(kind, number, rank);
    return {{theirs.calls.data(), calls}, theirs.cost_ns};
  }

 private:
  struct alignas(128) Row {
    Atomic<std::uint64_t> told;  // the number of the telling
    std::int64_t cost_ns;
    std::array<Sight, kMostCalls> calls;
  };
  Row& row(std::size_t kind, std::uint64_t number, std::size_t rank) const {
    return rows_[(kind * 2 + number % 2) * ranks_ + rank];
  }

  Row* rows_;
  std::size_t ranks_;
  std::size_t rank_;
};

}  // namespace stretto
