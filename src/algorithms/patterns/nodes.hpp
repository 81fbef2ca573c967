// The ranks of a call by nodes, each with a leader that speaks for it, for algorithms that send one message a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/group.hpp"

namespace stretto {

/// Who speaks for the node of `rank`: the root on its own node, the lowest rank elsewhere.
inline int leader_of(const Group& g, int root, int rank) {
  return g.node_of(rank) == g.node_of(root) ? root : g.node_of(rank);
}

struct Node {
  int leader;
  std::span<const int> ranks;  // by number, the leader among them
  std::size_t before;          // ranks of the nodes before it

  /// Whether the blocks of its ranks are side by side among those of all ranks.
  bool is_consecutive() const { return ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size()); }
};

/// All nodes, in the order of their lowest ranks.
class Nodes {
 public:
  Nodes(const Group& g, int root);
  Nodes(const Nodes&) = delete;  // nodes point into `ranks_`
  Nodes& operator=(const Nodes&) = delete;

  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }
  const Node& led_by(int leader) const {
    return *std::find_if(begin(), end(), [&](const Node& node) { return node.leader == leader; });
  }
  bool are_consecutive() const {
    return std::all_of(begin(), end(), [](const Node& node) { return node.is_consecutive(); });
  }

 private:
  std::vector<int> ranks_;  // node by node
  std::vector<Node> nodes_;
};

inline Nodes::Nodes(const Group& g, int root) {
  const auto p = static_cast<std::size_t>(g.size());
  std::vector<std::size_t> place(p, 0);  // of a node's next rank, at the node's lowest rank; first: how many it has
  for (int rank = 0; rank < g.size(); ++rank) ++place[static_cast<std::size_t>(g.node_of(rank))];
  ranks_.resize(p);
  std::size_t before = 0;
  for (std::size_t node = 0; node < p; ++node) {
    const std::size_t count = std::exchange(place[node], before);
    if (count == 0) continue;
    nodes_.push_back({leader_of(g, root, static_cast<int>(node)), {ranks_.data() + before, count}, before});
    before += count;
  }
  for (int rank = 0; rank < g.size(); ++rank) ranks_[place[static_cast<std::size_t>(g.node_of(rank))]++] = rank;
}

}  // namespace stretto
