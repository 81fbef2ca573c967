#include "topology/insides.hpp"

#include <map>
#include <tuple>
#include <utility>

namespace stretto {

Topology add_insides(const Topology& nodes, std::span<const Parts> parts) {
  std::vector<Unit> units = nodes.units();
  std::vector<int> unit_of;
  unit_of.reserve(parts.size());
  std::map<std::tuple<int, Level, std::int32_t>, int> known;  // by the unit around it, level and number
  for (const Parts& of_rank : parts) {
    int unit = nodes.unit_of(static_cast<int>(unit_of.size()));
    for (const auto& [level, number] : of_rank) {
      if (level == Level::machine) break;
      const auto [found, is_new] = known.try_emplace({unit, level, number}, static_cast<int>(units.size()));
      if (is_new) units.push_back({unit, level, std::string(name_of(level)) + std::to_string(number)});
      unit = found->second;
    }
    unit_of.push_back(unit);
  }
  return {std::move(units), std::move(unit_of)};
}

std::string summary_of(const Topology& topology) {
  std::map<Level, int> units;
  for (std::size_t unit = 1; unit < topology.units().size(); ++unit) {
    const auto number = static_cast<int>(unit);
    if (topology.first_place(number) < topology.end_of_places(number)) ++units[topology.units()[unit].level];
  }
  std::string summary;
  for (const auto& [level, count] : units) {
    if (!summary.empty()) summary += ", ";
    summary.append(std::to_string(count)).append(" x ").append(name_of(level));
  }
  return summary;
}

}  // namespace stretto
