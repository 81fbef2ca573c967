// The ranks that a root serves one by one.
#pragma once

#include <vector>

#include "core/group.hpp"
#include "prediction/order.hpp"

namespace stretto {

/// All ranks but the root: first those that are expected first, or by number where nothing is known.
inline std::vector<int> peers_of_root(const Group& g, const Call& call) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(g.size()));
  for (int position = 0; position < g.size(); ++position) {
    const int rank = call.order != nullptr ? call.order->rank_at(position) : position;
    if (rank != call.root) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace stretto
