// Which algorithm serves a call. A pure function of what all ranks know alike (docs/architecture.md, law 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "select/adaptation.hpp"
#include "select/configuration.hpp"

namespace stretto {

class Forecast;
class RuleTable;

/// The nodes of a communicator of which some has several ranks, and none has all.
struct SharedNodes {
  int count = 0;           // 0: one rank a node, or one node
  bool scattered = false;  // the ranks of a node do not follow one another
  bool boards = false;     // each has one, or can be given one

  int at_least_one() const { return count == 0 ? 1 : count; }
};

/// What all ranks of a call know alike about it.
struct CallFacts {
  Collective collective;
  std::size_t bytes;
  std::size_t element_bytes;
  bool commutative;
  int ranks;
  bool shared_memory;            // all ranks on one node, and they have a board
  std::size_t pool_window;       // the longest message that the board's pool can be made to hold at once
  bool uneven;                   // the ranks have arrived far apart of late: see is_uneven
  bool may_begin_ahead = false;  // of the program
  SharedNodes shared_nodes{};
  bool remote_words = false;
  bool single_copy = false;          // a rank can read the memory of all others of its node
  Forecast* forecast = nullptr;      // of what is taken between nodes, where all is left to the MPI library without one
  const RuleTable* tuned = nullptr;  // what was measured overrides rule and forecast
  ArrivalClass arrivals = ArrivalClass::balanced;  // as calls have shown them, between nodes
  int candidate = 0;                               // of those that are predicted to be the best: Adaptation::candidate
};

/// By how far apart ranks have arrived of late (Board::recent_skew_ns).
constexpr bool is_uneven(std::int64_t skew_ns) {
  return skew_ns > 100'000;  // several times what an allreduce of up to a slot takes on ranks that come at once
}

/// Whether a call of the collective can be served by an algorithm of Stretto's at all, as far as bytes and ranks tell,
/// and that these are all on one node; left out: whether any call can. If not, nothing need be known of its
/// communicator.
inline constexpr std::size_t kAnyBytes = ~std::size_t{0};
bool may_serve(const Configuration& configuration, Collective collective, std::size_t bytes = kAnyBytes, int ranks = 2,
               bool one_node = false);

/// In which way what such calls take, or how ranks come to them, decides what serves the next ones
/// (select/adaptation.hpp); nothing: it does not. What a rules file has measured is tried anew only if that is asked
/// for. The same on all ranks.
std::optional<Adaptation::Mode> adaptation_of(const Configuration& configuration, const CallFacts& facts);
/// Whether it may, of any call on a communicator of one node.
bool adapts_on_a_node(Adapt adapt, int ranks);

/// Whether the algorithm can serve the call at all.
bool can_serve(const Algorithm& algorithm, const CallFacts& facts);

/// Whether the algorithm goes by where ranks are within their nodes; `one_node`: they are all on one, or each has one
/// of its own. Hierarchies divide several shared nodes by nodes first.
bool looks_inside_nodes(const Algorithm& algorithm, bool one_node);

/// Whether it is what the user has asked for, by name or by a rules file.
bool is_asked_for(const Algorithm& algorithm, const Configuration& configuration, const CallFacts& facts);

/// The algorithm to run, nullptr for the MPI library's own. One that the user has forced comes first, then what the
/// rules file has, then the default; each gives way to the next where it cannot serve the call.
const Algorithm* choose(const Configuration& configuration, const CallFacts& facts);

}  // namespace stretto
