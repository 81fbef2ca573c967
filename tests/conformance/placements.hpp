// Ranks placed on a cluster with switches, nodes, packages and cores.
#pragma once

#include <algorithm>
#include <random>

#include "topology/topology.hpp"

namespace stretto::conformance {

/// Ranks on nodes of `ranks_per_node`, each node with two packages, under switches of two nodes; placed side by side,
/// in turn over the packages of a node, in turn over the nodes, or anyhow.
enum class Placement { by_core, by_socket, by_node, random };
inline constexpr Placement kPlacements[] = {Placement::by_core, Placement::by_socket, Placement::by_node,
                                            Placement::random};

inline Topology cluster(int ranks, int ranks_per_node, Placement placement) {
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  std::vector<Unit> units{{-1, Level::machine, "all"}};
  std::vector<int> cores;
  int network_switch = 0;
  for (int node = 0; node < nodes; ++node) {
    const auto add = [&](int parent, Level level, int number) {
      units.push_back({parent, level, std::to_string(number)});
      return static_cast<int>(units.size()) - 1;
    };
    if (node % 2 == 0) network_switch = add(0, Level::network_switch, node / 2);
    const int unit = add(network_switch, Level::node, node);
    const int packages[] = {add(unit, Level::package, 0), add(unit, Level::package, 1)};
    for (int i = 0; i < ranks_per_node; ++i) {
      const bool second = placement == Placement::by_socket ? i % 2 == 1 : i >= (ranks_per_node + 1) / 2;
      cores.push_back(add(packages[second ? 1 : 0], Level::core, i));
    }
  }
  std::vector<int> unit_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int core = placement == Placement::by_node ? rank % nodes * ranks_per_node + rank / nodes : rank;
    unit_of[static_cast<std::size_t>(rank)] = cores[static_cast<std::size_t>(core)];
  }
  if (placement == Placement::random) std::shuffle(unit_of.begin(), unit_of.end(), std::mt19937_64(7));
  return {std::move(units), std::move(unit_of)};
}

/// Of each rank of such a cluster the lowest on its node.
inline std::vector<int> nodes_of(const Topology& topology) {
  const int within_a_node = topology.greatest_distance() - 2;
  std::vector<int> nodes;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    int lowest = 0;
    while (topology.distance(lowest, rank) > within_a_node) ++lowest;
    nodes.push_back(lowest);
  }
  return nodes;
}

}  // namespace stretto::conformance
