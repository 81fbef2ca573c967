// The distances from a block of vertices to all, and the step of Floyd and Warshall on them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph.hpp"

namespace stretto::asp {

class Distances {
 public:
  // From the vertices from `first` to before `end`, over `edges`, which leave these.
  Distances(int vertices, int first, int end, std::span<const Edge> edges);

  // From one of them to all.
  std::span<Weight> row(int vertex) {
    return {data_.data() + static_cast<std::size_t>(vertex - first_) * vertices_, vertices_};
  }

  // Every path may lead over the vertex `via` from now on, whose distances to all are given.
  void relax(int via, std::span<const Weight> distances_of_via);

 private:
  std::size_t vertices_;
  int first_, end_;
  std::vector<Weight> data_;  // row after row
};

}  // namespace stretto::asp
