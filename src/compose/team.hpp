// The k-th ranks of all nodes, which speak with each other for them.
#pragma once

#include <vector>

#include "algorithms/parts/nodes.hpp"

namespace stretto {

/// That of the rank with place `place` on its node `own`. Every node has as many ranks at least.
struct Team {
  std::vector<int> ranks;
  Group group;

  Team(const Group& g, const Nodes& nodes, const Node& own, std::size_t place)
      : ranks(ranks_at(nodes, place)), group(g.of(ranks, static_cast<int>(&own - &*nodes.begin()))) {}
  Team(const Team&) = delete;  // the group points into `ranks`
  Team& operator=(const Team&) = delete;

 private:
  static std::vector<int> ranks_at(const Nodes& nodes, std::size_t place) {
    std::vector<int> ranks;
    ranks.reserve(nodes.size());
    for (const Node& node : nodes) ranks.push_back(node.ranks[place]);
    return ranks;
  }
};

}  // namespace stretto
