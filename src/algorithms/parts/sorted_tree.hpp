// A binomial tree whose places are given out in the order in which the ranks are expected.
//
// Place 0 is the root; the other places are those of trees.hpp, in which the sub-tree below a place is a run of places.
// The farther a place is from its parent, the larger is its sub-tree: a scatter serves it earlier, a gather hears of it
// later. Where no order is known, places are ranks relative to the root.
#pragma once

#include <vector>

#include "core/group.hpp"

namespace stretto {

class SortedTree {
 public:
  /// Which places go to the ranks that are expected first.
  enum class First { far_from_parent, near_parent };

  SortedTree(const Group& g, const Call& call, First first);

  int place() const { return place_; }  // of this rank
  int rank_at(int place) const {
    return ranks_.empty() ? (root_ + place) % size_ : ranks_[static_cast<std::size_t>(place)];
  }
  /// The place of every rank is its number.
  bool is_in_rank_order() const { return ranks_.empty() && root_ == 0; }
  /// The number of places in the sub-tree below and with `place`, whose parent is `distance` away.
  int subtree(int place, int distance) const { return place + distance < size_ ? distance : size_ - place; }

 private:
  int size_;
  int root_;
  int place_ = 0;
  std::vector<int> ranks_;  // by place; empty: relative to the root
};

}  // namespace stretto
