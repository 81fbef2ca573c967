// A weighted directed graph, as the list of its edges.
#pragma once

#include <cstdint>
#include <vector>

namespace stretto::asp {

// Half the memory and half the time of double, and messages of 4 bytes a vertex as in the paper (256 K vertices, 1 MB).
// Whole numbers up to 2^24 stay exact; other sums of e edges are right to about e * 6e-8.
using Weight = float;

// Neither the longest path of the largest graph nor a sum on the way to it becomes infinite.
constexpr double kMostWeight = 1e30;
constexpr int kMostVertices = 1'000'000;

struct Edge {
  std::int32_t from, to;  // vertices are numbered from 0
  Weight weight;

  bool operator==(const Edge&) const = default;
};

struct Graph {
  int vertices = 0;
  std::vector<Edge> edges;  // sorted by `from` and `to`, no two alike in both
};

// Sorts, and of the edges that have the same ends keeps the one of the least weight.
void keep_lightest(std::vector<Edge>& edges);

}  // namespace stretto::asp
