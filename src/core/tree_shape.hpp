// The shapes of trees over all ranks, of which an algorithm takes one as a parameter.
#pragma once

#include <string_view>

namespace stretto {

/// k-ary: the children of v are k v + 1 ... k v + k; a chain for k = 1. k-nomial: those at the distances j k^i below
/// its lowest digit other than 0 in base k; binomial for k = 2. In a k-nomial tree and a chain the ranks of a sub-tree
/// are consecutive, from its top on. Flat: all are children of the root. By places: algorithms/parts/topology_tree.hpp.
struct TreeShape {
  enum class Kind { none, k_ary, k_nomial, flat, by_places };
  Kind kind = Kind::none;
  int k = 0;
  std::string_view words{};  // for people
  std::string_view map{};    // of ranks, which suits it

  friend constexpr bool operator==(const TreeShape& a, const TreeShape& b) { return a.kind == b.kind && a.k == b.k; }
};
inline constexpr TreeShape kChain{TreeShape::Kind::k_ary, 1, "a chain", "ring"};
inline constexpr TreeShape kBinary{TreeShape::Kind::k_ary, 2, "a binary tree", "binary_tree"};
inline constexpr TreeShape kBinomial{TreeShape::Kind::k_nomial, 2, "a binomial tree", "binomial"};
inline constexpr TreeShape kQuadrinomial{TreeShape::Kind::k_nomial, 4, "a 4-nomial tree", "knomial"};
inline constexpr TreeShape kFlat{TreeShape::Kind::flat, 0, "a flat tree", ""};
inline constexpr TreeShape kByPlaces{TreeShape::Kind::by_places, 0, "a tree that crosses each cable once", ""};

}  // namespace stretto
