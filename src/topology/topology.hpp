// Topology: where the ranks of a communicator are, as a tree from the whole machine down to the cores.
//
// Kitor 2022 keeps the distances as a matrix, of which each node fills its rows. Here two ranks are as far apart as the
// smallest unit that holds both is large: memory for P ranks is O(P), and a distance costs a walk up the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stretto {

/// What a unit of the machine is, from the outside in. Switches may be within switches.
enum class Level : std::uint8_t { machine, network_switch, node, package, numa, l3_cache, l2_cache, core };
std::string_view name_of(Level level);

struct Unit {
  int parent;  // -1: none
  Level level;
  std::string name;  // among its siblings
};

class Topology {
 public:
  /// `units[0]` is the whole machine, and each other unit comes after its parent; `unit_of[rank]` is the smallest unit
  /// that is known to hold the rank.
  Topology(std::vector<Unit> units, std::vector<int> unit_of);

  int ranks() const { return static_cast<int>(unit_of_.size()); }
  const std::vector<Unit>& units() const { return units_; }
  int unit_of(int rank) const { return at(unit_of_, rank); }
  /// How many units a unit lies within.
  int depth_of(int unit) const { return at(depth_, unit); }

  /// Ranks have places, from 0, such that those of each unit are side by side.
  int place_of(int rank) const { return at(place_of_, rank); }
  int rank_at(int place) const { return at(rank_at_, place); }
  int first_place(int unit) const { return at(first_, unit); }
  int end_of_places(int unit) const { return at(end_, unit); }
  bool holds(int unit, int rank) const {
    return place_of(rank) >= first_place(unit) && place_of(rank) < end_of_places(unit);
  }

  /// The smallest unit that holds both ranks.
  int meeting_unit(int a, int b) const;
  /// 0 within one of the smallest units there are, and 1 more for each level that the ranks have to climb to meet.
  int distance(int a, int b) const { return deepest_ - depth_of(meeting_unit(a, b)); }
  int greatest_distance() const { return deepest_; }

 private:
  static int at(const std::vector<int>& all, int index) { return all[static_cast<std::size_t>(index)]; }

  std::vector<Unit> units_;
  std::vector<int> unit_of_;   // of each rank
  std::vector<int> depth_;     // of each unit
  std::vector<int> first_;     // place of each unit
  std::vector<int> end_;       // of each unit: one after its last place
  std::vector<int> place_of_;  // of each rank
  std::vector<int> rank_at_;   // of each place
  int deepest_ = 0;
};

/// How many nodes `nodes` tells of: of each rank the lowest on its node.
int count_nodes(const std::vector<int>& nodes);

/// Ranks of which nothing is known but who shares a node. `nodes[rank]` is a number of its node, of which a node has
/// one; empty: all are on one.
Topology topology_of_nodes(int ranks, const std::vector<int>& nodes);

}  // namespace stretto
