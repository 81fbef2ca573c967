// Trees over all ranks of a call, of several shapes, as a rank sees its own place.
#pragma once

#include <vector>

#include "algorithms/parts/trees.hpp"
#include "core/tree_shape.hpp"

namespace stretto {

/// Absolute ranks.
struct TreePlace {
  int parent = -1;            // none
  std::vector<int> children;  // near ones first; in a k-nomial tree those have the smaller sub-trees
};

/// The parent of rank `me` where the root is 0; -1: none. Not by places.
inline int parent_in(TreeShape shape, int me) {
  if (me == 0) return -1;
  if (shape.kind == TreeShape::Kind::flat) return 0;
  if (shape.kind == TreeShape::Kind::k_ary) return (me - 1) / shape.k;
  int distance = 1;
  while (me / distance % shape.k == 0) distance *= shape.k;
  return me - me / distance % shape.k * distance;
}

inline TreePlace place_in(TreeShape shape, int rank, int root, int size) {
  const int me = relative_rank(rank, root, size);
  TreePlace place;
  const auto add = [&](int child) {
    if (child < size) place.children.push_back(absolute_rank(child, root, size));
  };
  if (me > 0) place.parent = absolute_rank(parent_in(shape, me), root, size);
  if (shape.kind == TreeShape::Kind::k_ary) {
    for (int i = 1; i <= shape.k; ++i) add(shape.k * me + i);
    return place;
  }
  if (shape.kind == TreeShape::Kind::flat) {
    for (int child = 1; me == 0 && child < size; ++child) add(child);
    return place;
  }
  int distance = 1;
  while (distance < size && me / distance % shape.k == 0) {
    for (int i = 1; i < shape.k; ++i) add(me + i * distance);
    distance *= shape.k;
  }
  return place;
}

/// How many messages lie between the root and the farthest rank.
inline int depth_of(TreeShape shape, int size) {
  if (shape.kind == TreeShape::Kind::flat) return size > 1 ? 1 : 0;
  int depth = 0;
  const int step = shape.kind == TreeShape::Kind::k_ary && shape.k == 1 ? size - 1 : 0;
  for (int reach = 1; step == 0 && reach < size; ++depth) {
    reach = shape.kind == TreeShape::Kind::k_ary ? shape.k * reach + 1 : shape.k * reach;
  }
  return step > 0 ? step : depth;
}

}  // namespace stretto
