// How the ranks of a communicator lie on its nodes.
#pragma once

#include <cstdint>

namespace stretto {

/// The numbers of the ranks.
enum class Placement : std::uint8_t { side_by_side, in_turn, other };

struct NodeLayout {
  int ranks = 1;
  int nodes = 1;
  Placement placement = Placement::side_by_side;
  bool boards = false;  // those of a node have, or can be given, memory in common
  bool uneven = false;  // nodes have different numbers of ranks

  /// Several nodes, of which some has several ranks.
  bool shares_nodes() const { return nodes > 1 && nodes < ranks; }
  int most_on_a_node() const { return (ranks + nodes - 1) / nodes; }
};

}  // namespace stretto
