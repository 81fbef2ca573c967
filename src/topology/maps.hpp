// Rank maps that put ranks which exchange much near each other: the heuristics of Kitor 2022, section 4.3, and one for
// patterns of any kind. In all of them virtual rank 0 is rank `first`, which lets a root be any rank.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "topology/mapper.hpp"

namespace stretto {

/// For whom virtual rank r exchanges with r + 1: each goes close to the one before. (Mirsadeghi, Afsahi 2016, too.)
RankMap map_ring(const Topology& topology, int first);

/// Which partners in a hypercube go closest.
enum class Closest {
  nearest_numbers,  // at distance 1, then 2, 4, ...: they exchange most in rabenseifner (Kitor's Algorithm 4.2)
  farthest_numbers  // from the greatest distance down: the last stages of recursive_doubling, as in the same authors'
};

/// For whom r exchanges with r XOR 2^t, where ranks beyond a power of two pair up as algorithms/parts/fold.hpp has it.
/// From a reference, its closest partner that is free goes close to it; every second rank so mapped becomes the
/// reference.
RankMap map_hypercube(const Topology& topology, int first, Closest closest);

/// For trees over virtual ranks from 0 on, depth first: each child goes close to its parent, and its own children
/// before the next. `children_of(rank)` has those first that shall be nearest: of a binary tree the greater one, as its
/// sub-tree is the smaller; of a k-nomial tree the k - 1 leaves, then sub-trees as they grow (Kitor's Algorithms 4.3
/// and 4.4).
template <class ChildrenOf>
RankMap map_tree(const Topology& topology, int first, ChildrenOf children_of) {
  Mapper mapper(topology, first);
  std::vector<std::pair<int, int>> waiting;  // child and parent; a stack, as a tree may be a chain
  const auto add_children = [&](int parent) {
    const auto children = children_of(parent);
    for (auto child = children.rbegin(); child != children.rend(); ++child) waiting.emplace_back(*child, parent);
  };
  add_children(0);
  while (!waiting.empty()) {
    const auto [child, parent] = waiting.back();
    waiting.pop_back();
    mapper.map(child, parent);
    add_children(child);
  }
  return std::move(mapper).take();
}

/// How many bytes two virtual ranks exchange.
struct Edge {
  int a;
  int b;
  double bytes;
};
using Traffic = std::vector<Edge>;

/// For any pattern: of all ranks not mapped yet, that which exchanges most with one that is goes close to it (Prim's
/// construction of a spanning tree, of the greatest weight). Ranks without traffic come last.
RankMap map_greedy(const Topology& topology, int first, const Traffic& traffic);

/// What a map costs: over all edges, bytes times distance.
double hop_bytes(const Topology& topology, const RankMap& map, const Traffic& traffic);

}  // namespace stretto
