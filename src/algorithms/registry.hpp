// The registry: every algorithm describes itself once, and conformance tests, benchmark, selector, command line and
// documentation read it from here.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "algorithms/hierarchy.hpp"
#include "algorithms/mapping.hpp"
#include "algorithms/pipelining.hpp"
#include "core/group.hpp"

namespace stretto {

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
std::string_view name_of(Collective collective);

/// What an algorithm needs from the ranks' shared memory.
enum class Memory { none, board, pool };

/// Whose doing depends on the order in which the ranks are expected (Call::order).
enum class OrderUse {
  none,
  root_only,  // the messages are the same in any order: the root may take what it knows at the moment
  everywhere  // all ranks need the same one
};

struct Algorithm {
  Collective collective;
  std::string_view name;
  Task (*run)(Group&, Call);
  Memory memory;          // of a hierarchy: of the ranks of each node
  std::size_t pool_from;  // Memory::pool: what a rank leaves there needs the pool from this many bytes on, shorter ones
                          // only the board
  std::size_t max_bytes;  // a message; longer ones are run in windows of this. 0: no bound
  bool commutative_only;
  bool deterministic;  // the same bits from run to run, whatever the order of arrival
  std::string_view summary;
  std::string_view source;
  std::string_view cost_balanced;
  std::string_view cost_after_last;
  OrderUse order_use = OrderUse::none;
  bool begins_ahead = false;  // of the program (Call::ahead); whoever sends data has awaited Group::caller
  bool uses_words = false;    // Endpoint::words, and Call::number
  // Of one that find_algorithm has made:
  Pipelining pipelining{};
  const MapKind* map = nullptr;
  const Hierarchy* hierarchy = nullptr;

  /// Whether find_algorithm has made it of others.
  bool is_derived() const { return pipelining.cuts() || map != nullptr || hierarchy != nullptr; }

  /// Whether it is a hierarchy whose nodes share memory each.
  bool uses_node_memory() const { return hierarchy != nullptr && memory != Memory::none; }

  /// Whether it is of any use only where the next call can be foreseen.
  bool needs_prediction() const { return order_use != OrderUse::none || begins_ahead; }

  bool needs_pool(std::size_t bytes, int ranks) const {
    return memory == Memory::pool && bytes * blocks_of_rank(ranks) >= pool_from;
  }
  /// How many messages of a call's length lie in the pool side by side: every rank's block, in alltoall its blocks.
  std::size_t messages_in_pool(int ranks) const {
    switch (collective) {
      case Collective::scatter:
      case Collective::gather:
      case Collective::allgather:
      case Collective::alltoall:
        return static_cast<std::size_t>(ranks) * blocks_of_rank(ranks);
      default:
        return 1;
    }
  }
  /// How many messages of a call's length each rank leaves there.
  std::size_t blocks_of_rank(int ranks) const {
    return collective == Collective::alltoall ? static_cast<std::size_t>(ranks) : 1;
  }
};

std::span<const Algorithm> algorithms();

/// nullptr if there is none of that name. One that is derived from another is made when first asked for: a name of the
/// registry, then `@` and a map of ranks (mapping.hpp), then `+` and segments (pipelining.hpp), of which either may be
/// missing: `ring@topology+4`; or `hierarchical(binomial,ring)` (hierarchy.hpp) and perhaps segments. The MPI library's
/// own in segments, `native+4`, has no `run`.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

/// Those of the registry and the derived ones that have been asked for, by number; the former are the same in every
/// process. Numbers are below kMostAlgorithms.
inline constexpr std::size_t kMostAlgorithms = 512;
std::size_t number_of(const Algorithm& algorithm);
std::size_t algorithm_count();
const Algorithm& algorithm_numbered(std::size_t number);

/// Runs `algorithm` with all that belongs around it: entering and leaving the board, windows of messages that are too
/// long for the shared memory. A pool, where needed, has been attached before. `call` is the same on all ranks, but for
/// the buffers, `ahead`, `order` where OrderUse says so and, where lengths are each rank's own, the count and blocks.
Task run_algorithm(Group& g, const Algorithm& algorithm, Call call);

}  // namespace stretto
