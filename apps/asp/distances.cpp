#include "distances.hpp"

#include <limits>

namespace stretto::asp {

Distances::Distances(int vertices, int first, int end, std::span<const Edge> edges)
    : vertices_(static_cast<std::size_t>(vertices)),
      first_(first),
      end_(end),
      data_(static_cast<std::size_t>(end - first) * vertices_, std::numeric_limits<Weight>::infinity()) {
  for (const Edge& edge : edges) row(edge.from)[static_cast<std::size_t>(edge.to)] = edge.weight;
  for (int vertex = first; vertex < end; ++vertex) row(vertex)[static_cast<std::size_t>(vertex)] = 0;
}

// Rows that cannot reach `via` are not passed over: so all steps and all graphs of a size cost the same, and the first
// steps tell what all of them will take.
void Distances::relax(int via, std::span<const Weight> distances_of_via) {
  const Weight* onward = distances_of_via.data();
  for (int from = first_; from < end_; ++from) {
    // Its own row stays as it is, and may be the one that is read.
    if (from == via) continue;
    Weight* known = row(from).data();
    const Weight to_via = known[via];
    for (std::size_t to = 0; to < vertices_; ++to) {
      const Weight over_via = to_via + onward[to];
      known[to] = over_via < known[to] ? over_via : known[to];
    }
  }
}

}  // namespace stretto::asp
