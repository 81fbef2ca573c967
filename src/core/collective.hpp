// The collectives, and the arguments of a call of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/reduction.hpp"
#include "core/signal.hpp"

namespace stretto {

struct Algorithm;
class ArrivalOrder;
class Platform;
struct TreeShape;

enum class Collective : int {
  allreduce,
  reduce,
  bcast,
  barrier,
  scatter,
  gather,
  scatterv,
  gatherv,
  allgather,
  allgatherv,
  reduce_scatter_block,
  reduce_scatter,
  alltoall,
  alltoallv
};
inline constexpr Collective kCollectives[] = {Collective::allreduce,
                                              Collective::reduce,
                                              Collective::bcast,
                                              Collective::barrier,
                                              Collective::scatter,
                                              Collective::gather,
                                              Collective::scatterv,
                                              Collective::gatherv,
                                              Collective::allgather,
                                              Collective::allgatherv,
                                              Collective::reduce_scatter_block,
                                              Collective::reduce_scatter,
                                              Collective::alltoall,
                                              Collective::alltoallv};
/// In lower case, as users type it.
constexpr std::string_view name_of(Collective collective) {
  constexpr std::string_view kNames[] = {"allreduce",
                                         "reduce",
                                         "bcast",
                                         "barrier",
                                         "scatter",
                                         "gather",
                                         "scatterv",
                                         "gatherv",
                                         "allgather",
                                         "allgatherv",
                                         "reduce_scatter_block",
                                         "reduce_scatter",
                                         "alltoall",
                                         "alltoallv"};
  static_assert(std::size(kNames) == std::size(kCollectives));
  return kNames[static_cast<std::size_t>(collective)];
}

/// nullopt for a name that none has.
constexpr std::optional<Collective> find_collective(std::string_view name) {
  for (const Collective collective : kCollectives) {
    if (name_of(collective) == name) return collective;
  }
  return std::nullopt;
}

/// That in which all ranks have blocks of one length; itself, where it is no such form.
constexpr Collective without_lengths(Collective collective) {
  switch (collective) {
    case Collective::scatterv:
      return Collective::scatter;
    case Collective::gatherv:
      return Collective::gather;
    case Collective::allgatherv:
      return Collective::allgather;
    case Collective::reduce_scatter:
      return Collective::reduce_scatter_block;
    case Collective::alltoallv:
      return Collective::alltoall;
    default:
      return collective;
  }
}

/// Whether ranks have lengths of their own, and each knows those of all.
constexpr bool knows_all_lengths(Collective collective) {
  return collective == Collective::allgatherv || collective == Collective::reduce_scatter;
}

/// Whether no rank can end such a call, of at least a byte a rank, before all have begun it.
constexpr bool meets_all(Collective collective, std::size_t bytes) {
  return collective == Collective::barrier ||
         (bytes > 0 && (collective == Collective::allreduce || collective == Collective::allgather ||
                        collective == Collective::alltoall || collective == Collective::reduce_scatter_block));
}

/// Whether what it gives depends on an operation, and so may on the order of its use.
constexpr bool sums(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter_block || collective == Collective::reduce_scatter;
}

/// A run of elements.
struct Block {
  std::size_t first;
  std::size_t count;
};

/// The program's side of a call that the engine has begun ahead of it: its buffers are not ours before it is there.
struct Caller {
  Signal arrived;  // 1: the buffers below are valid
  const std::byte* input = nullptr;
  std::byte* output = nullptr;

  void arrive(Platform& platform, const std::byte* input_, std::byte* output_);
};

/// The arguments of a collective, the same struct for all of them. Counts are in elements; `input` may equal `output`
/// (in place). Reduce: `output` matters at the root only, and is null elsewhere. Bcast: data is in `output`. Scatter
/// and gather: `count` is one block; the root's `input`, or `output`, holds one a rank; in place the root's own block
/// is where it belongs already. Scatterv and gatherv: `count` is this rank's own block.
/// Allgather: as a gather of which every rank is the root. Reduce_scatter: `input` holds a block for each rank,
/// `output` takes this rank's own, in place at the beginning of the input. Alltoall: both hold a block for each rank.
/// Allgatherv and reduce_scatter: `count` is this rank's own block, and all ranks know the lengths of all; alltoallv:
/// it has none. Of a call with a block for each rank that is done in parts, each takes `count` elements of every block,
/// which are `stride` elements apart.
struct Call {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  const Reduction* reduction = nullptr;
  int root = 0;                          // the same on all ranks; 0 of a collective without one
  std::size_t stride = 0;                // from one rank's block to the next; less than `count` means `count`
  const Block* blocks = nullptr;         // where each rank's block is, if not so: at the root, or at all where none is
  const Block* output_blocks = nullptr;  // alltoallv: the same of the output; `blocks` is of the input
  const ArrivalOrder* order = nullptr;   // in which the ranks are expected, where that is known; see OrderUse
  Caller* ahead = nullptr;               // the program is not in the call yet, and will be there; see Group::caller
  std::uint64_t number = 0;              // of a call that uses remote words, and of each segment of it
  const Algorithm* between = nullptr;    // of a hierarchy without leaders: what goes between nodes
  const TreeShape* shape = nullptr;      // of an algorithm with a tree of any shape

  std::size_t bytes() const { return count * element_bytes; }

  /// Whether the program is in the call, so that `input` and `output` are valid.
  bool is_here() {
    if (ahead == nullptr) return true;
    if (!ahead->arrived.reached(1)) return false;
    input = ahead->input;
    output = ahead->output;
    ahead = nullptr;
    return true;
  }
};

}  // namespace stretto
