// A tree that crosses each cable once: the topology-aware tree of Luo et al. 2018.
#pragma once

#include "algorithms/parts/tree_shapes.hpp"
#include "core/group.hpp"

namespace stretto {

/// The leaders of the machine's units are a chain, from the root's on; so are the ranks of a unit behind its leader, or
/// the leaders of its parts, and so on. So a node is entered and left once by its leader, which serves its own ranks
/// besides: with `nodes` nodes of q ranks, as deep as nodes + q where a chain of all ranks is as deep as nodes q. Where
/// nothing is known, it is that chain.
struct TopologyTree {
  TreePlace place;  // the next leader before the own unit's ranks: the way on from there is longer
  int depth;        // at most, if units have as many ranks each; the same on all ranks
};
TopologyTree topology_tree(Group& g, int root);

}  // namespace stretto
