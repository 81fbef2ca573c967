#include "algorithms/parts/sorted_tree.hpp"

#include <algorithm>

#include "algorithms/parts/peers_of_root.hpp"
#include "algorithms/parts/trees.hpp"

namespace stretto {

SortedTree::SortedTree(const Group& g, const Call& call, First first)
    : size_(g.size()), root_(call.root), place_(relative_rank(g.rank(), call.root, g.size())) {
  if (call.order == nullptr) return;
  ranks_.assign(static_cast<std::size_t>(size_), root_);
  const std::vector<int> expected = peers_of_root(g, call);
  auto next = expected.begin();
  const auto give_out = [&](int distance) {
    for (int place = distance; place < size_; place += 2 * distance) ranks_[static_cast<std::size_t>(place)] = *next++;
  };
  const int farthest = parent_distance(0, size_) / 2;
  if (first == First::far_from_parent) {
    for (int distance = farthest; distance >= 1; distance /= 2) give_out(distance);
  } else {
    for (int distance = 1; distance <= farthest; distance *= 2) give_out(distance);
  }
  place_ = static_cast<int>(std::find(ranks_.begin(), ranks_.end(), g.rank()) - ranks_.begin());
}

}  // namespace stretto
