// The tree of units, distances in it, and the maps that put ranks near each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "catalogue/catalogue.hpp"
#include "conformance/placements.hpp"
#include "topology/rank_maps.hpp"
#include "topology/split.hpp"
#include "transport/sim/traffic.hpp"

namespace stretto::conformance {
namespace {

RankMap no_map(int ranks) {
  RankMap map(static_cast<std::size_t>(ranks));
  std::iota(map.begin(), map.end(), 0);
  return map;
}

const MapKind& kind(std::string_view name) {
  return *find_map_kind(*find_algorithm(Collective::allreduce, "ring"), name);
}

TEST(Topology, RanksAreAsFarApartAsTheSmallestUnitThatHoldsBothIsLarge) {
  const Topology four_nodes = cluster(16, 4, Placement::by_core);
  EXPECT_EQ(four_nodes.ranks(), 16);
  EXPECT_EQ(four_nodes.greatest_distance(), 4);
  EXPECT_EQ(four_nodes.distance(3, 3), 0);
  EXPECT_EQ(four_nodes.distance(0, 1), 1) << "one package";
  EXPECT_EQ(four_nodes.distance(1, 2), 2) << "one node";
  EXPECT_EQ(four_nodes.distance(0, 7), 3) << "one switch";
  EXPECT_EQ(four_nodes.distance(0, 8), 4);
  EXPECT_EQ(four_nodes.distance(8, 0), 4);
}

TEST(Topology, PlacesOfAUnitAreSideBySide) {
  for (Placement placement : kPlacements) {
    const Topology topology = cluster(23, 4, placement);
    for (int rank = 0; rank < 23; ++rank) EXPECT_EQ(topology.rank_at(topology.place_of(rank)), rank);
    for (std::size_t unit = 0; unit < topology.units().size(); ++unit) {
      for (int rank = 0; rank < 23; ++rank) {
        int within = topology.unit_of(rank);
        while (within > static_cast<int>(unit)) within = topology.units()[static_cast<std::size_t>(within)].parent;
        EXPECT_EQ(topology.holds(static_cast<int>(unit), rank), within == static_cast<int>(unit));
      }
    }
  }
}

TEST(Topology, RanksOfANodeMayBeInNoSmallerUnit) {
  const Topology nodes = topology_of_nodes(5, {0, 1, 0, 1, 4});
  EXPECT_EQ(nodes.distance(0, 2), 0);
  EXPECT_EQ(nodes.distance(0, 1), 1);
  EXPECT_EQ(topology_of_nodes(3, {}).distance(0, 2), 0);
  // Rank 0 is somewhere on the node, rank 1 known to be in one of its packages.
  const Topology partly({{-1, Level::machine, "all"}, {0, Level::node, "a"}, {1, Level::package, "0"}}, {1, 2, 2});
  EXPECT_EQ(partly.distance(1, 2), 0);
  EXPECT_EQ(partly.distance(0, 1), 1);
}

TEST(Splits, EachUnitHasALeaderAndTheRootLeadsItsOwn) {
  const Topology topology = cluster(16, 4, Placement::by_node);  // rank r is on node r % 4
  const std::vector<int> all = no_map(16);
  using Ranks = std::vector<int>;
  const auto of_rank_5 = split(topology, all, 5, 0);
  ASSERT_TRUE(of_rank_5);
  EXPECT_EQ(of_rank_5->unit, (Ranks{1, 5, 9, 13}));
  EXPECT_EQ(of_rank_5->place_in_unit, 1);
  EXPECT_EQ(of_rank_5->leaders, (Ranks{0, 1, 2, 3}));
  EXPECT_FALSE(of_rank_5->leads());
  EXPECT_EQ(of_rank_5->leader_of_root, 0);

  const auto of_root = split(topology, all, 9, 9);
  EXPECT_EQ(of_root->unit, (Ranks{9, 1, 5, 13})) << "the leader first";
  EXPECT_EQ(of_root->leaders, (Ranks{0, 9, 2, 3}));
  EXPECT_EQ(of_root->place_among_leaders, 1);
  EXPECT_EQ(of_root->leader_of_root, 1);
}

TEST(Splits, ThoseOfAllRanksAreFoundOutOnce) {
  RankMaps maps(cluster(16, 4, Placement::by_node));
  const std::shared_ptr<const Division> division = maps.division();
  ASSERT_NE(division, nullptr);
  EXPECT_EQ(division, maps.division());
  EXPECT_FALSE(division->in_order) << "rank r is on node r % 4";
  EXPECT_EQ(division->units(), 4U);
  for (int mine = 0; mine < 16; ++mine) {
    for (const int root : {0, 9}) {
      const Split of_all = split(division, mine, root);
      const auto anew = split(maps.topology(), no_map(16), mine, root);
      EXPECT_EQ(of_all.unit, anew->unit);
      EXPECT_EQ(of_all.unit[static_cast<std::size_t>(of_all.place_in_unit)], mine);
      EXPECT_EQ(of_all.leaders, anew->leaders);
      EXPECT_EQ(of_all.own_unit, mine % 4);
    }
  }
  RankMaps one(topology_of_nodes(3, {}));
  EXPECT_EQ(one.division(), nullptr);
}

// A file server at the spine, say, and others below leaf switches.
TEST(Splits, NodesAtSeveralDepths) {
  const std::vector<Unit> units{{-1, Level::machine, "all"},     {0, Level::node, "server"},
                                {0, Level::network_switch, "a"}, {0, Level::network_switch, "b"},
                                {2, Level::node, "a0"},          {2, Level::node, "a1"},
                                {3, Level::node, "b0"},          {3, Level::node, "b1"}};
  const Topology topology(units, {1, 4, 6, 5, 7});
  const auto parts = split(topology, no_map(5), 3, 0);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->unit, (std::vector<int>{1, 3}));
  EXPECT_EQ(parts->leaders, (std::vector<int>{0, 1, 2}));
}

TEST(Splits, RanksOfOneNodeByItsPartsAndLoneOnesBySwitches) {
  const Topology topology = cluster(16, 4, Placement::by_core);
  using Ranks = std::vector<int>;
  const auto within_a_node = split(topology, Ranks{4, 5, 6, 7}, 3, 0);
  ASSERT_TRUE(within_a_node);
  EXPECT_EQ(within_a_node->unit, (Ranks{6, 7}));
  EXPECT_EQ(within_a_node->leaders, (Ranks{4, 6}));
  const auto one_a_node = split(topology, Ranks{1, 4, 9, 13}, 0, 3);
  ASSERT_TRUE(one_a_node);
  EXPECT_EQ(one_a_node->unit, (Ranks{1, 4})) << "nodes 0 and 1 share a switch";
  EXPECT_EQ(one_a_node->leaders, (Ranks{1, 13}));
  EXPECT_EQ(one_a_node->leader_of_root, 1);
  EXPECT_FALSE(split(topology, Ranks{1, 9}, 0, 0)) << "no unit has two of them";
  EXPECT_FALSE(split(topology, Ranks{4, 5}, 0, 0)) << "one package has both";
  EXPECT_FALSE(split(topology, Ranks{4}, 0, 0));
}

TEST(Maps, EveryRankIsThereOnceAndTheFirstIsAskedFor) {
  for (const MapKind& each : map_kinds()) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      for (Placement placement : kPlacements) {
        const Topology topology = cluster(ranks, 5, placement);
        for (int first : {0, ranks / 2, ranks - 1}) {
          RankMap map = each.make(topology, first);
          EXPECT_EQ(map.front(), first) << each.name;
          std::ranges::sort(map);
          EXPECT_EQ(map, no_map(ranks)) << each.name << ", " << ranks << " ranks";
        }
      }
    }
  }
}

// On ranks of which one after the other is the nearest free one, a map is the order in which a heuristic goes.
TEST(Maps, TheHeuristicsGoAsThePaperSays) {
  const auto order = [](std::string_view name, int ranks) {
    std::vector<Unit> units{{-1, Level::machine, "all"}};
    const auto add = [&](int parent) {
      units.push_back({parent, Level::core, "of all the rest, and one rank"});
      return static_cast<int>(units.size()) - 1;
    };
    // Rank r is in a unit with the ranks before it, so that the nearest free one is always the lowest.
    std::vector<int> unit_of(static_cast<std::size_t>(ranks));
    int unit = 0;
    for (int rank = ranks - 1; rank >= 0; --rank) unit_of[static_cast<std::size_t>(rank)] = unit = add(unit);
    const RankMap map = kind(name).make(Topology(units, unit_of), 0);
    std::vector<int> virtual_ranks(map.size());
    for (std::size_t i = 0; i < map.size(); ++i) virtual_ranks[static_cast<std::size_t>(map[i])] = static_cast<int>(i);
    return virtual_ranks;
  };
  using Ranks = std::vector<int>;
  EXPECT_EQ(order("ring", 5), (Ranks{0, 1, 2, 3, 4}));
  // Two to each reference: the second becomes the next one.
  EXPECT_EQ(order("rabenseifner", 8), (Ranks{0, 1, 2, 3, 6, 7, 4, 5}));
  EXPECT_EQ(order("recursive_doubling", 8), (Ranks{0, 4, 2, 6, 3, 7, 1, 5}));
  // Six ranks: 0 and 2 give their data to 1 and 3, and are nearest to these.
  EXPECT_EQ(order("rabenseifner", 6), (Ranks{0, 1, 3, 2, 4, 5}));
  EXPECT_EQ(order("binary_tree", 7), (Ranks{0, 2, 6, 5, 1, 4, 3}));
  EXPECT_EQ(order("binomial", 8), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order("knomial", 9), (Ranks{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Maps, ARingLeavesEachUnitOnce) {
  for (Placement placement : kPlacements) {
    const Topology topology = cluster(64, 8, placement);
    for (int first : {0, 13}) {
      const RankMap map = kind("ring").make(topology, first);
      int between_nodes = 0, between_packages = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        const int distance = topology.distance(map[i], map[(i + 1) % 64]);
        between_nodes += distance > 2 ? 1 : 0;
        between_packages += distance == 2 ? 1 : 0;
      }
      EXPECT_EQ(between_nodes, 8);
      EXPECT_EQ(between_packages, 8);
    }
  }
}

std::vector<Algorithm> mappable_algorithms() {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (can_be_mapped(algorithm) && find_map_kind(algorithm, "topology") != nullptr) found.push_back(algorithm);
  }
  return found;
}

class MappedAlgorithm : public testing::TestWithParam<Algorithm> {};

// In hop-bytes, on 8 nodes of 8 ranks, and without a power of two.
TEST_P(MappedAlgorithm, MapsBringTogetherWhoExchangesMuch) {
  for (int ranks : {64, 52}) {
    const Traffic traffic = sim::record_traffic(GetParam(), ranks, 8192);
    const MapKind& suiting = *find_map_kind(GetParam(), "topology");
    for (Placement placement : kPlacements) {
      const Topology topology = cluster(ranks, 8, placement);
      const double before = hop_bytes(topology, no_map(ranks), traffic);
      const double by_heuristic = hop_bytes(topology, suiting.make(topology, 0), traffic);
      const double by_greedy = hop_bytes(topology, map_greedy(topology, 0, traffic), traffic);
      if (placement == Placement::by_core || placement == Placement::by_socket) continue;
      // In recursive doubling everybody exchanges as much with near numbers as with far ones.
      const bool can_gain = GetParam().name != "recursive_doubling";
      EXPECT_LT(by_heuristic, (can_gain ? 0.8 : 1.01) * before) << suiting.name << ", " << ranks << " ranks";
      EXPECT_LT(by_greedy, (can_gain ? 0.8 : 1.1) * before) << ranks << " ranks";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, MappedAlgorithm, testing::ValuesIn(mappable_algorithms()), [](const auto& test) {
  return std::string(name_of(test.param.collective)) + "_" + std::string(test.param.name);
});

}  // namespace
}  // namespace stretto::conformance
