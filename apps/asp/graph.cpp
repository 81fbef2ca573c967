#include "graph.hpp"

#include <algorithm>
#include <tuple>

namespace stretto::asp {

void keep_lightest(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to, a.weight) < std::tie(b.from, b.to, b.weight);
  });
  const auto end = std::unique(edges.begin(), edges.end(),
                               [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; });
  edges.erase(end, edges.end());
}

}  // namespace stretto::asp
