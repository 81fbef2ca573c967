#include "topology/split.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace stretto {
namespace {

// The unit around `rank` that is directly below `depth + 1` units, or the smallest if that is not as deep.
int unit_at_depth(const Topology& topology, int rank, int depth) {
  int unit = topology.unit_of(rank);
  while (topology.depth_of(unit) > depth) unit = topology.units()[static_cast<std::size_t>(unit)].parent;
  return unit;
}

// The unit of a level around `rank`, or the smallest around it that is larger.
int unit_of_level(const Topology& topology, int rank, Level level) {
  int unit = topology.unit_of(rank);
  while (topology.units()[static_cast<std::size_t>(unit)].level > level) {
    unit = topology.units()[static_cast<std::size_t>(unit)].parent;
  }
  return unit;
}

using Units = std::vector<int>;  // of each rank

template <class UnitOf>
Units units_of(std::span<const int> ranks, UnitOf unit_of) {
  Units units;
  units.reserve(ranks.size());
  for (int rank : ranks) units.push_back(unit_of(rank));
  return units;
}

// Whether some unit has several ranks, and none has all.
bool divides(const Units& units) {
  const bool one_has_all = std::ranges::all_of(units, [&](int unit) { return unit == units.front(); });
  if (one_has_all) return false;
  Units sorted = units;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

std::optional<Units> divide(const Topology& topology, std::span<const int> ranks) {
  const Units nodes = units_of(ranks, [&](int rank) { return unit_of_level(topology, rank, Level::node); });
  if (divides(nodes)) return nodes;
  const bool within_a_node = nodes.size() < 2 || nodes.front() == nodes.back();
  // Within a node from the largest parts down, above it from the smallest switches up. Nodes may be at several depths.
  int deepest = 0;
  for (int node : nodes) deepest = std::max(deepest, topology.depth_of(node));
  for (int step = 0; step < topology.greatest_distance(); ++step) {
    const int depth = within_a_node ? deepest + 1 + step : deepest - 1 - step;
    if (depth < 1 || depth > topology.greatest_distance()) break;
    const Units parts = units_of(ranks, [&](int rank) { return unit_at_depth(topology, rank, depth); });
    if (divides(parts)) return parts;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Split> split(const Topology& topology, std::span<const int> ranks, int mine, int root) {
  const std::optional<Units> units = divide(topology, ranks);
  if (!units) return std::nullopt;
  const auto unit_of = [&](std::size_t place) { return (*units)[place]; };
  const auto me = static_cast<std::size_t>(mine), from = static_cast<std::size_t>(root);

  Split parts{{}, 0, 0, {}, -1, 0, {}};
  parts.units.reserve(ranks.size());
  std::unordered_map<int, int> place_of_unit;  // among the leaders
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const auto [found, is_new] = place_of_unit.try_emplace(unit_of(place), static_cast<int>(parts.leaders.size()));
    if (is_new) parts.leaders.push_back(unit_of(place) == unit_of(from) ? ranks[from] : ranks[place]);
    parts.units.push_back(found->second);
    if (unit_of(place) == unit_of(me)) parts.unit.push_back(ranks[place]);
  }
  parts.leader_of_root = place_of_unit[unit_of(from)];
  const int place_of_mine = place_of_unit[unit_of(me)];
  const int leader = parts.leaders[static_cast<std::size_t>(place_of_mine)];
  if (leader == ranks[me]) parts.place_among_leaders = place_of_mine;
  const auto first = std::ranges::find(parts.unit, leader);
  std::rotate(parts.unit.begin(), first, first + 1);
  parts.place_in_unit = static_cast<int>(std::ranges::find(parts.unit, ranks[me]) - parts.unit.begin());
  return parts;
}

}  // namespace stretto
