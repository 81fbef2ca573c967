// Machine: what messages, copies and sums take on the ranks' machine.
//
// It is measured by the ranks themselves (mpi/places/measurement.hpp) or read from a file (select/machine_file.hpp). A
// choice by it must be the same on all ranks, so it is integers, and all ranks of a communicator have the same one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/costs.hpp"
#include "topology/topology.hpp"

namespace stretto {

/// What something takes, by length. It is known at `kLengths`; between them, and beyond the last two, times lie on
/// straight lines, as those of a latency and a bandwidth do.
class Curve {
 public:
  static constexpr std::array<std::size_t, 8> kLengths{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20};

  /// In ns, at kLengths.
  std::array<std::int64_t, kLengths.size()> ns{};

  /// In ns. Shorter than the first length costs as much as that.
  std::int64_t at(std::size_t bytes) const;
  /// What a byte more costs, in ps, around that length.
  std::int64_t slope_ps(std::size_t bytes) const;
  /// A line through the first length and number `known` of the others.
  void straighten(std::size_t known);
  /// The same for all lengths from `known` lengths on: as the two before them have it.
  void extend_from(std::size_t known);

 private:
  static std::size_t segment_of(std::size_t bytes);  // from kLengths of it to the next
};

/// Messages between two ranks.
struct Link {
  Curve message;                 // from the call of the sender until the receiver has it
  Curve gap;                     // from one message to the next of many
  std::int64_t eager_bytes = 0;  // the longest that leaves before its receiver is ready
};

/// What a core does in memory where so many of a node do the same.
struct MemoryTimes {
  std::int64_t cores = 0;  // 0: not known
  Curve copy;
  Curve reduce;  // a += b, of floats
};

/// A message where all ranks send one at once: each to another node, or to another rank of its own. 0: not known.
struct Crowded {
  std::int64_t message_ns = 0;       // of 8 bytes, between nodes
  std::int64_t byte_ps = 0;          // more
  std::int64_t near_message_ns = 0;  // of 8 bytes, within a node
  std::int64_t near_byte_ps = 0;     // more
};

inline constexpr std::size_t kLevels = 8;  // of topology.hpp

struct Machine {
  static constexpr std::size_t kMostWorks = 8;
  /// The length that plans ahead take the price of a byte at.
  static constexpr std::size_t kPlanned = std::size_t{32} << 10;

  std::array<std::int64_t, kLevels> known{};    // whether the link is
  std::array<Link, kLevels> links{};            // of ranks that meet in a unit of that level
  std::array<MemoryTimes, kMostWorks> works{};  // by rising numbers of cores
  Crowded crowded;
  std::int64_t line_ns = 0;  // handing a cache line from one core to another
  std::int64_t wake_ns = 0;  // from the call until a sleeping thread runs
  std::int64_t call_ns = 0;  // of a collective of the MPI library's that has nothing to do

  void know(Level level, const Link& link);
  /// Of that level; where it is not known, of the nearest further out that is, else of the nearest further in. nullptr
  /// where none is known.
  const Link* link(Level level) const;
  /// Of so many cores, or of the nearest number below; else of the least. nullptr where nothing is known.
  const MemoryTimes* work(std::int64_t cores) const;

  /// As algorithms plan ahead with them, where messages of `bytes` go between ranks that meet on `level`. What is not
  /// known is as Costs has it.
  Costs costs(Level level, std::size_t bytes) const;
};

}  // namespace stretto
