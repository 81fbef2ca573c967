// Split: some ranks by the units of the machine that they are in, each unit with a leader that speaks for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace stretto {

/// As one rank sees it. Numbers are those of the communicator.
struct Split {
  std::vector<int> unit;     // the ranks of this rank's unit, its leader first, the others in their order
  int leader_in_unit;        // its place there
  int place_in_unit;         // of this rank
  std::vector<int> leaders;  // of all units, in the order of their first ranks
  int place_among_leaders;   // -1: no leader
  int leader_of_root;        // its place among the leaders
  std::vector<int> units;    // of each of the ranks that are split, its leader's place among the leaders

  bool leads() const { return place_among_leaders >= 0; }
};

/// Ranks of several nodes by nodes; ranks that are alone on their nodes by the smallest switches that several share;
/// ranks of one node by its largest parts, packages for example. `ranks` are numbers in the communicator, of which
/// `ranks[mine]` is this one; `root` is a place in `ranks` and leads its unit, elsewhere the first does. nullopt, on
/// all ranks alike, where no unit has several of them or one has all.
std::optional<Split> split(const Topology& topology, std::span<const int> ranks, int mine, int root);

}  // namespace stretto
