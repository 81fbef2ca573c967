// The ranks of a call by nodes, each with a leader that speaks for it, for algorithms that send one message a node.
// Every group knows its nodes. Split (topology/split.hpp) divides by any level of the machine, but needs its topology:
// that is what hierarchies with leaders are made by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
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
  int number;                  // the lowest rank of the communicator there
  std::span<const int> ranks;  // by number
  std::size_t before;          // ranks of the nodes before it

  bool has(int rank) const { return std::binary_search(ranks.begin(), ranks.end(), rank); }
  int leader(int root) const { return has(root) ? root : ranks.front(); }
  int place_of(int rank) const {
    return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  /// Whether the blocks of its ranks are side by side among those of all ranks.
  bool is_consecutive() const { return ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size()); }
};

/// All nodes, in the order of their lowest ranks.
class Nodes {
 public:
  explicit Nodes(const Group& g);
  Nodes(const Nodes&) = delete;  // nodes point into `ranks_`
  Nodes& operator=(const Nodes&) = delete;

  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }
  std::size_t size() const { return nodes_.size(); }
  /// The one that `rank` is on.
  const Node& of(const Group& g, int rank) const {
    return *std::ranges::lower_bound(nodes_, g.node_of(rank), {}, &Node::number);
  }
  bool are_consecutive() const { return are_consecutive_; }
  /// All ranks, node by node.
  std::span<const int> by_node() const { return ranks_; }
  /// Ranks of the node that has fewest, and most.
  std::size_t fewest() const { return fewest_; }
  std::size_t most() const { return most_; }
  /// Whether some have several ranks, and none has all.
  bool are_shared() const { return size() > 1 && most_ > 1; }

 private:
  std::vector<int> ranks_;  // node by node
  std::vector<Node> nodes_;
  bool are_consecutive_ = true;
  std::size_t fewest_;
  std::size_t most_ = 0;
};

inline Nodes::Nodes(const Group& g) : ranks_(static_cast<std::size_t>(g.size())), fewest_(ranks_.size()) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
  std::stable_sort(ranks_.begin(), ranks_.end(), [&](int a, int b) { return g.node_of(a) < g.node_of(b); });
  for (std::size_t before = 0; before < ranks_.size();) {
    const int number = g.node_of(ranks_[before]);
    std::size_t end = before;
    while (end < ranks_.size() && g.node_of(ranks_[end]) == number) ++end;
    const Node& made = nodes_.emplace_back(Node{number, {ranks_.data() + before, end - before}, before});
    are_consecutive_ = are_consecutive_ && made.is_consecutive();
    fewest_ = std::min(fewest_, made.ranks.size());
    most_ = std::max(most_, made.ranks.size());
    before = end;
  }
}

/// Those of this group; those of all ranks are found out once a communicator, as that takes time in proportion to their
/// number.
inline std::shared_ptr<const Nodes> nodes_of(Group& g) {
  if (!g.is_whole()) return std::make_shared<const Nodes>(g);
  std::shared_ptr<const Nodes>& all = g.endpoint().all_nodes;
  if (all == nullptr) all = std::make_shared<const Nodes>(g);
  return all;
}

/// At the leader, which is rank `me`: `transfer(i)` for each other rank i of its node, all of them at once, and
/// `copy(i)` for itself.
template <class MakeTransfer, class Copy>
Task serve_ranks(const Node& node, int me, MakeTransfer transfer, Copy copy) {
  std::vector<Transfer> transfers;
  transfers.reserve(node.ranks.size());  // transfers stay where they are while under way
  std::size_t own = 0;
  for (std::size_t i = 0; i < node.ranks.size(); ++i) {
    if (node.ranks[i] == me) {
      own = i;
      continue;
    }
    transfers.push_back(transfer(i));
    transfers.back().start();
  }
  copy(own);
  for (Transfer& each : transfers) co_await each;
}

/// At the root: `serve` for every other node, beside `own`, its own. `packed` has room for the blocks of the node,
/// unless those of each node are consecutive.
inline Task serve_nodes(Group& g, const Call& call, const Nodes& nodes,
                        Task (*serve)(Group& g, const Call& call, const Node& node, std::byte* packed), Task own) {
  Scratch memory = g.scratch(nodes.are_consecutive() ? 0 : static_cast<std::size_t>(g.size()) * call.bytes());
  TaskGroup all;
  for (const Node& node : nodes) {
    if (!node.has(call.root)) all.spawn(serve(g, call, node, memory.data() + node.before * call.bytes()));
  }
  all.spawn(std::move(own));
  co_await all.join();
}

}  // namespace stretto
