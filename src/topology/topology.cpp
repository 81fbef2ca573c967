#include "topology/topology.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace stretto {

std::string_view name_of(Level level) {
  constexpr std::string_view kNames[] = {"machine", "switch", "node", "package", "numa", "l3", "l2", "core"};
  return kNames[static_cast<std::size_t>(level)];
}

Topology::Topology(std::vector<Unit> units, std::vector<int> unit_of)
    : units_(std::move(units)),
      unit_of_(std::move(unit_of)),
      depth_(units_.size()),
      first_(units_.size()),
      end_(units_.size()),
      place_of_(unit_of_.size()),
      rank_at_(unit_of_.size()) {
  const auto index = [](int number) { return static_cast<std::size_t>(number); };
  std::vector<int> own(units_.size());  // ranks that are in no smaller unit
  for (int unit : unit_of_) ++own[index(unit)];
  std::vector<int> all = own;
  for (std::size_t unit = units_.size(); unit-- > 1;) all[index(units_[unit].parent)] += all[unit];

  // A unit's own ranks come first, then those of its children, one child after the other.
  std::vector<int> next(units_.size());  // free place for a child
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (unit > 0) {
      const std::size_t parent = index(units_[unit].parent);
      depth_[unit] = depth_[parent] + 1;
      first_[unit] = next[parent];
      next[parent] += all[unit];
    }
    end_[unit] = first_[unit] + all[unit];
    next[unit] = first_[unit] + own[unit];
    if (all[unit] > 0) deepest_ = std::max(deepest_, depth_[unit]);
  }
  std::vector<int> free = first_;
  for (std::size_t rank = 0; rank < unit_of_.size(); ++rank) {
    const int place = free[index(unit_of_[rank])]++;
    place_of_[rank] = place;
    rank_at_[index(place)] = static_cast<int>(rank);
  }
}

int Topology::meeting_unit(int a, int b) const {
  int unit = unit_of(a);
  while (!holds(unit, b)) unit = units_[static_cast<std::size_t>(unit)].parent;
  return unit;
}

int count_nodes(const std::vector<int>& nodes) {
  int count = 0;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) count += nodes[rank] == static_cast<int>(rank) ? 1 : 0;
  return count;
}

Topology topology_of_nodes(int ranks, const std::vector<int>& nodes) {
  std::vector<Unit> units{{-1, Level::machine, "all"}};
  std::unordered_map<int, int> unit_of_node;
  std::vector<int> unit_of;
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank)];
    const auto [found, is_new] = unit_of_node.try_emplace(node, static_cast<int>(units.size()));
    if (is_new) units.push_back({0, Level::node, std::to_string(node)});
    unit_of.push_back(found->second);
  }
  return {std::move(units), std::move(unit_of)};
}

}  // namespace stretto
