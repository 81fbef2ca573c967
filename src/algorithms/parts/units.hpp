// The ranks of a call by units of the machine (topology/split.hpp).
#pragma once

#include <optional>

#include "core/group.hpp"
#include "topology/rank_maps.hpp"
#include "topology/split.hpp"

namespace stretto {

/// nullopt, on all ranks alike, where they cannot be divided. Those of all ranks are found out once a communicator.
inline std::optional<Split> split_group(Group& g, int root) {
  RankMaps& maps = *g.endpoint().maps;
  std::shared_ptr<const Division> division = g.is_whole() ? maps.division() : divide(maps.topology(), g.real_ranks());
  if (division == nullptr) return std::nullopt;
  return split(std::move(division), g.rank(), root);
}

}  // namespace stretto
