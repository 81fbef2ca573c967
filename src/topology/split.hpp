// Split: some ranks by the units of the machine that they are in, each unit with a leader that speaks for it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace stretto {

/// Some ranks by units, whoever leads these: what takes time in proportion to their number, and is the same for all
/// calls of a communicator. Places are those in `ranks`.
struct Division {
  std::vector<int> ranks;           // their numbers in the communicator
  std::vector<int> unit_of;         // of each place; units are in the order of their first ranks
  std::vector<int> by_unit;         // the places, unit by unit
  std::vector<std::size_t> begins;  // of each unit there, and the end
  std::vector<int> firsts;          // of each unit, its first rank
  bool in_order = true;             // ranks that follow each other are in units that do

  std::size_t units() const { return begins.size() - 1; }
  std::span<const int> places_in(int unit) const {
    const std::size_t begin = begins[static_cast<std::size_t>(unit)];
    return {by_unit.data() + begin, begins[static_cast<std::size_t>(unit) + 1] - begin};
  }
};

/// Ranks of several nodes by nodes; ranks that are alone on their nodes by the smallest switches that several share;
/// ranks of one node by its largest parts, packages for example. `ranks` are numbers in the communicator. nullptr, on
/// all ranks alike, where no unit has several of them or one has all.
std::shared_ptr<const Division> divide(const Topology& topology, std::vector<int> ranks);

/// A division with leaders, as one rank sees it. Numbers are those of the communicator.
struct Split {
  std::shared_ptr<const Division> division;
  int own_unit;
  std::vector<int> unit;     // the ranks of this rank's unit, its leader first, the others in their order
  int leader_in_unit;        // its place there
  int place_in_unit;         // of this rank
  std::vector<int> leaders;  // of all units
  int place_among_leaders;   // -1: no leader
  int leader_of_root;        // its place among the leaders

  bool leads() const { return place_among_leaders >= 0; }
};

/// `mine` is this rank's place, `root` that of the one that leads its unit; elsewhere the first does. Takes time in
/// proportion to the number of units, and of ranks in this rank's.
Split split(std::shared_ptr<const Division> division, int mine, int root);

/// The same of ranks that have not been divided yet; nullopt where they cannot be.
std::optional<Split> split(const Topology& topology, std::span<const int> ranks, int mine, int root);

}  // namespace stretto
