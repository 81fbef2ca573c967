// What an algorithm says of itself at the end of its file, and what the catalogue makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/collective.hpp"
#include "core/formula.hpp"
#include "core/task.hpp"
#include "core/tree_shape.hpp"

namespace stretto {

class Group;
struct Hierarchy;
struct MapKind;

/// What an algorithm needs from the ranks' shared memory.
enum class Memory { none, board, pool };

/// Whose doing depends on the order in which the ranks are expected (Call::order).
enum class OrderUse {
  none,
  root_only,  // the messages are the same in any order: the root may take what it knows at the moment
  everywhere  // all ranks need the same one
};

/// How a hierarchy takes it within nodes that share memory (compose/hierarchy.cpp).
enum class InNodes {
  by_leader,      // which is known ahead
  in_stripes,     // no rank leads: each speaks for the node with a stripe
  in_teams,       // no rank leads: each speaks to those with the same place on their nodes
  in_pool,        // blocks stay where they have been left: the leader exchanges them there
  by_first_comer  // if what goes between nodes serves those who announce themselves
};

/// Whether the root serves the others as they announce themselves; if so, with what at a time.
enum class ServesAnnounced { no, whole_messages, segments };

struct Needs {
  Memory memory = Memory::none;
  std::size_t pool_from = 0;  // Memory::pool: what a rank leaves there needs the pool from this many bytes on, shorter
                              // ones only the board
  std::size_t max_bytes = 0;  // a message; longer ones are run in windows of this. 0: no bound
  bool commutative = false;   // operations; for others it cannot keep the order of ranks
  bool words = false;         // Endpoint::words, and Call::number
};

/// Leading terms: (P - 1)/P is 1.
struct Cost {
  Formula balanced;               // of ranks that come together, until the last leaves
  Formula after_last;             // the work left once the last rank is there
  std::optional<Formula> mean{};  // of ranks that come together, the mean time in the call, unless all leave together
  std::optional<Formula> waiting{};  // of the time by which one rank is late, the share that the others wait in the
                                     // mean, unless all of it
};

/// The same in all cases.
constexpr Cost both(const Formula& cost) { return {cost, cost}; }

/// Whether sums have the same bits from run to run, whatever the order of arrival.
enum class Sums { the_same, as_they_come };

/// The same without a coroutine, which takes as long as a short call: where the board needs no pool for the message.
struct Shortly {
  /// All of it; false where others let it wait, after what needs nobody has been done.
  bool (*run)(Group&, const Call&) = nullptr;
  Task (*rest)(Group&, Call) = nullptr;  // what is left to do then
};

/// A kind of an algorithm that users force by a name of its own.
struct Variant {
  std::string_view name;
  Task (*run)(Group&, Call) = nullptr;  // unless it is the algorithm's own
  const TreeShape* shape = nullptr;     // Call::shape
  OrderUse order = OrderUse::none;
  bool ahead = false;            // it begins ahead of the program (Call::ahead); whoever sends data has awaited
                                 // Group::caller. Not where each rank knows its own length only
  std::optional<Needs> needs{};  // unless they are the algorithm's own
  Sums sums = Sums::the_same;    // of an algorithm with shapes
  ServesAnnounced serves_announced = ServesAnnounced::no;
  std::string_view summary{};           // unless it is the algorithm's own
  std::optional<Formula> balanced{};    // the same
  std::optional<Formula> after_last{};  // the same
  std::optional<Formula> mean{};        // the same
};

inline constexpr std::size_t kMostVariants = 6;

struct Description {
  Collective collective;
  std::optional<Collective> with_lengths{};  // the collective with a length for each rank, which it serves as well
  std::string_view name{};                   // empty where only the variants have one
  Task (*run)(Group&, Call);
  Shortly shortly{};
  Needs needs{};
  OrderUse order = OrderUse::none;
  Sums sums = Sums::the_same;
  InNodes in_nodes = InNodes::by_leader;
  ServesAnnounced serves_announced = ServesAnnounced::no;
  std::string_view
      map{};  // of ranks, which suits it (compose/mapping.hpp); a variant with a shape has that of the shape
  std::string_view summary;  // {} is the shape of a variant
  std::string_view source;
  Cost cost;
  Variant variants[kMostVariants]{};
};

struct Pipelining {
  std::size_t segments = 1;       // so many
  std::size_t segment_bytes = 0;  // unless 0: as many as there are of this length
  bool cuts() const { return segments > 1 || segment_bytes > 0; }
};

/// One entry of the catalogue: what a name means for a collective. Texts live as long as the process.
struct Algorithm {
  Collective collective;
  std::size_t number = 0;  // by which the catalogue has it
  std::string_view name;
  Task (*run)(Group&, Call);  // null: the MPI library's own
  Shortly shortly{};
  Needs needs{};  // of a hierarchy: of the ranks of each node
  const TreeShape* shape = nullptr;
  OrderUse order_use = OrderUse::none;
  bool begins_ahead = false;
  bool deterministic = true;
  InNodes in_nodes = InNodes::by_leader;
  ServesAnnounced serves_announced = ServesAnnounced::no;
  std::string_view suiting_map{};
  std::string_view summary{};
  std::string_view source{};
  const Formula* balanced = nullptr;
  const Formula* after_last = nullptr;
  const Formula* mean = nullptr;
  const Formula* waiting = nullptr;
  // Of one that find_algorithm has made:
  Pipelining pipelining{};
  const MapKind* map = nullptr;
  const Hierarchy* hierarchy = nullptr;

  /// Whether find_algorithm has made it of others.
  bool is_derived() const { return pipelining.cuts() || map != nullptr || hierarchy != nullptr; }

  /// Whether it is a hierarchy whose nodes share memory each.
  bool uses_node_memory() const { return hierarchy != nullptr && needs.memory != Memory::none; }

  /// Whether it is of any use only where the next call can be foreseen.
  bool needs_prediction() const { return order_use != OrderUse::none || begins_ahead; }

  bool needs_pool(std::size_t bytes, int ranks) const {
    return needs.memory == Memory::pool && bytes * blocks_of_rank(ranks) >= needs.pool_from;
  }
  /// Whether it works on the board, as itself.
  bool is_on_board() const { return needs.memory != Memory::none && !is_derived(); }
  /// How many messages of a call's length, or of its longest block's, lie in the pool side by side: every rank's block,
  /// in alltoall its blocks. Of what goes in teams, on `nodes` nodes, those of the ranks of one.
  std::size_t messages_in_pool(int ranks, int nodes = 1) const {
    switch (without_lengths(collective)) {
      case Collective::scatter:
      case Collective::gather:
      case Collective::allgather:
      case Collective::reduce_scatter_block:
      case Collective::alltoall:
        return static_cast<std::size_t>(in_nodes == InNodes::in_teams ? ranks / nodes : ranks) * blocks_of_rank(ranks);
      default:
        return 1;
    }
  }
  /// How many messages of a call's length each rank leaves there; in stripes all ranks' are reduced into one.
  std::size_t blocks_of_rank(int ranks) const {
    const Collective plain = without_lengths(collective);
    const bool for_each =
        plain == Collective::alltoall || (plain == Collective::reduce_scatter_block && in_nodes != InNodes::in_stripes);
    return for_each ? static_cast<std::size_t>(ranks) : 1;
  }
};

/// Runs `algorithm` with all that belongs around it: entering and leaving the board, windows of messages that are too
/// long for the shared memory. A pool, where needed, has been attached before. `call` is the same on all ranks, but for
/// the buffers, `ahead`, `order` where OrderUse says so and, where lengths are each rank's own, the count and blocks.
Task run_algorithm(Group& g, const Algorithm& algorithm, Call call);

/// The same in the blocking mode, on the caller's stack, to its end or until the executor is stopped. What belongs
/// around short messages on the board is done without a coroutine of its own, and so is all of the call where the
/// algorithm can and the others come soon.
void run_to_end(Group& g, const Algorithm& algorithm, const Call& call);
/// The same by an algorithm that works on the board, of a message that it takes in one part.
void run_on_board(Group& g, const Algorithm& algorithm, const Call& call);

}  // namespace stretto
