#include "topology/split.hpp"

#include <algorithm>
#include <numeric>
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

std::optional<Units> find_units(const Topology& topology, std::span<const int> ranks) {
  Units nodes = units_of(ranks, [&](int rank) { return unit_of_level(topology, rank, Level::node); });
  if (divides(nodes)) return nodes;
  const bool within_a_node = nodes.size() < 2 || nodes.front() == nodes.back();
  // Within a node from the largest parts down, above it from the smallest switches up. Nodes may be at several depths.
  int deepest = 0;
  for (int node : nodes) deepest = std::max(deepest, topology.depth_of(node));
  for (int step = 0; step < topology.greatest_distance(); ++step) {
    const int depth = within_a_node ? deepest + 1 + step : deepest - 1 - step;
    if (depth < 1 || depth > topology.greatest_distance()) break;
    Units parts = units_of(ranks, [&](int rank) { return unit_at_depth(topology, rank, depth); });
    if (divides(parts)) return parts;
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Division> divide(const Topology& topology, std::vector<int> ranks) {
  const std::optional<Units> units = find_units(topology, ranks);
  if (!units) return nullptr;
  auto division = std::make_shared<Division>();
  division->ranks = std::move(ranks);
  std::unordered_map<int, int> number_of;  // of the machine's units, among those that have any of the ranks
  for (const int unit : *units) {
    const auto [found, is_new] = number_of.try_emplace(unit, static_cast<int>(number_of.size()));
    division->unit_of.push_back(found->second);
  }
  division->in_order = std::ranges::is_sorted(division->unit_of);
  division->by_unit.resize(division->ranks.size());
  std::iota(division->by_unit.begin(), division->by_unit.end(), 0);
  const auto unit_of = [&](int place) { return division->unit_of[static_cast<std::size_t>(place)]; };
  std::ranges::stable_sort(division->by_unit, {}, unit_of);
  for (std::size_t at = 0; at < division->by_unit.size(); ++at) {
    if (at == 0 || unit_of(division->by_unit[at]) != unit_of(division->by_unit[at - 1])) division->begins.push_back(at);
  }
  for (const std::size_t begin : division->begins) {
    division->firsts.push_back(division->ranks[static_cast<std::size_t>(division->by_unit[begin])]);
  }
  division->begins.push_back(division->by_unit.size());
  return division;
}

Split split(std::shared_ptr<const Division> division, int mine, int root) {
  const Division& all = *division;
  const auto unit_of = [&](int place) { return all.unit_of[static_cast<std::size_t>(place)]; };
  const auto rank_at = [&](int place) { return all.ranks[static_cast<std::size_t>(place)]; };
  const int own_unit = unit_of(mine);
  Split parts{std::move(division), own_unit, {}, 0, 0, all.firsts, -1, unit_of(root)};
  parts.leaders[static_cast<std::size_t>(parts.leader_of_root)] = rank_at(root);
  const int leader = parts.leaders[static_cast<std::size_t>(own_unit)];
  if (leader == rank_at(mine)) parts.place_among_leaders = own_unit;
  parts.unit.push_back(leader);
  for (const int place : all.places_in(own_unit)) {
    if (place == mine) parts.place_in_unit = leader == rank_at(mine) ? 0 : static_cast<int>(parts.unit.size());
    if (rank_at(place) != leader) parts.unit.push_back(rank_at(place));
  }
  return parts;
}

std::optional<Split> split(const Topology& topology, std::span<const int> ranks, int mine, int root) {
  auto division = divide(topology, {ranks.begin(), ranks.end()});
  if (division == nullptr) return std::nullopt;
  return split(std::move(division), mine, root);
}

}  // namespace stretto
