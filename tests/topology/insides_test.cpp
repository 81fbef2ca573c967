// What is within nodes: packages, caches and cores, as the ranks tell of them.

#include "topology/insides.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "catalogue/catalogue.hpp"
#include "conformance/runs.hpp"
#include "select/rules.hpp"
#include "topology/split.hpp"

namespace stretto::conformance {
namespace {

using Ranks = std::vector<int>;

Part package(int number) { return {Level::package, number}; }
Part core(int number) { return {Level::core, number}; }

// Two nodes of four ranks: those of node 0 on cores of two packages, in turn; those of node 4 all over it but for one.
const std::vector<int> kNodes{0, 0, 0, 0, 4, 4, 4, 4};
const std::vector<Parts> kParts{{package(0), core(0)},
                                {package(1), core(4)},
                                {package(0), core(1)},
                                {package(1), core(5)},
                                {},
                                {package(1)},
                                {},
                                {}};

Topology two_nodes() { return add_insides(topology_of_nodes(8, kNodes), kParts); }

TEST(Insides, RanksAreInTheSmallestPartsThatAreKnown) {
  const Topology topology = two_nodes();
  EXPECT_EQ(topology.ranks(), 8);
  EXPECT_EQ(topology.greatest_distance(), 3);
  EXPECT_EQ(topology.distance(0, 2), 1) << "one package";
  EXPECT_EQ(topology.distance(0, 1), 2) << "one node";
  EXPECT_EQ(topology.distance(0, 4), 3);
  EXPECT_EQ(topology.distance(4, 5), 2) << "rank 4 may be in any package of the node";
  EXPECT_EQ(topology.distance(1, 5), 3) << "packages of two nodes, by the same number";
  EXPECT_EQ(summary_of(topology), "2 x node, 3 x package, 4 x core");
  for (std::size_t unit = 1; unit < topology.units().size(); ++unit) {
    EXPECT_LT(topology.units()[unit].parent, static_cast<int>(unit));
  }
}

TEST(Insides, WhereNothingIsToldNothingChanges) {
  const Topology nodes = topology_of_nodes(8, kNodes);
  const Topology same = add_insides(nodes, std::vector<Parts>(8));
  EXPECT_EQ(same.units().size(), nodes.units().size());
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(same.unit_of(rank), nodes.unit_of(rank));
  EXPECT_EQ(summary_of(same), "2 x node");
}

TEST(Insides, LevelsLieWithinEachOtherAsTheyAreTold) {
  const Part l3{Level::l3_cache, 0}, other_l3{Level::l3_cache, 1};
  const auto distance = [](const Parts& one, const Parts& other) {
    return add_insides(topology_of_nodes(2, {}), std::vector<Parts>{one, other}).distance(0, 1);
  };
  const Part numa{Level::numa, 0}, other_numa{Level::numa, 1};
  EXPECT_EQ(distance({numa, l3}, {numa, other_l3}), 1);
  EXPECT_EQ(distance({l3, numa}, {l3, other_numa}), 1);
  EXPECT_EQ(distance({numa, l3}, {other_numa, other_l3}), 2);
}

// Of two accounts of where an L3 is, neither is known to be right: it is taken for two, and the ranks meet around it.
TEST(Insides, APartWithinTwoOthersIsTwo) {
  const Part l3{Level::l3_cache, 7};
  const Topology topology =
      add_insides(topology_of_nodes(3, {}), std::vector<Parts>{{package(0), l3}, {l3}, {package(0), l3}});
  EXPECT_EQ(topology.distance(0, 2), 0);
  EXPECT_EQ(topology.distance(0, 1), 2);
  EXPECT_EQ(summary_of(topology), "1 x node, 1 x package, 2 x l3");
}

TEST(Insides, SwitchesStayAsTheyAre) {
  const std::vector<Unit> units{{-1, Level::machine, "all"},
                                {0, Level::network_switch, "leaf0"},
                                {0, Level::network_switch, "leaf1"},
                                {1, Level::node, "a"},
                                {2, Level::node, "b"}};
  const Topology topology = add_insides(Topology(units, {3, 3, 3, 3, 4, 4, 4, 4}), kParts);
  EXPECT_EQ(summary_of(topology), "2 x switch, 2 x node, 3 x package, 4 x core");
  EXPECT_EQ(topology.distance(0, 1), 2);
  EXPECT_EQ(topology.distance(0, 4), 4);
}

TEST(Insides, RanksOfANodeAreDividedByPackagesNotCores) {
  const Topology topology = two_nodes();
  const auto of_node_0 = split(topology, Ranks{0, 1, 2, 3}, 3, 0);
  ASSERT_TRUE(of_node_0);
  EXPECT_EQ(of_node_0->unit, (Ranks{1, 3}));
  EXPECT_EQ(of_node_0->leaders, (Ranks{0, 1}));
  const auto of_node_4 = split(topology, Ranks{4, 5, 6, 7}, 0, 0);
  ASSERT_TRUE(of_node_4) << "one in a package, and those that may be in any";
  EXPECT_EQ(of_node_4->unit, (Ranks{4, 6, 7}));
  EXPECT_EQ(of_node_4->leaders, (Ranks{4, 5}));
  EXPECT_FALSE(split(topology, Ranks{0, 2}, 0, 0)) << "a core each: nothing is shared";
  const auto of_all = split(topology, Ranks{0, 1, 2, 3, 4, 5, 6, 7}, 5, 0);
  ASSERT_TRUE(of_all);
  EXPECT_EQ(of_all->unit, (Ranks{4, 5, 6, 7})) << "several nodes by nodes";
}

TEST(Insides, ARingGoesFromPackageToPackageOnce) {
  const RankMap map = map_ring(two_nodes(), 0);
  EXPECT_EQ(RankMap(map.begin(), map.begin() + 4), (RankMap{0, 2, 1, 3}));
}

using Message = std::tuple<int, int, std::size_t>;

// Who sends how much to whom, in their order from each rank.
std::vector<std::vector<Message>> messages_of(const Algorithm& algorithm, const Topology& topology,
                                              const Ranks& nodes) {
  std::vector<std::vector<Message>> messages(nodes.size());
  sim::Options options = options_for(static_cast<int>(nodes.size()), 0);
  options.nodes = nodes;
  options.topology = topology;
  options.shared_memory = algorithm.needs.memory != Memory::none;
  options.on_send = [&](int from, int to, std::size_t bytes) {
    messages[static_cast<std::size_t>(from)].emplace_back(from, to, bytes);
  };
  run(algorithm, options, {{40'000, 2, false, false}});
  return messages;
}

std::vector<Algorithm> registered_and_derived() {
  std::vector<Algorithm> found(algorithms().begin(), algorithms().end());
  constexpr std::pair<Collective, const char*> kDerived[] = {
      {Collective::allreduce, "ring@topology"},
      {Collective::bcast, "event_topology+3"},
      {Collective::reduce, "hierarchical(event_chain,event_chain)"},
      {Collective::allreduce, "hierarchical(arrival_stripes,ring)"},
      {Collective::reduce, "hierarchical(event_topology,binomial)"},
      {Collective::bcast, "hierarchical(hierarchical(binomial,event_chain),binomial)"},
      {Collective::bcast, "hierarchical(hierarchical(binomial,event_chain),binomial)+3"},
      {Collective::allreduce, "hierarchical(binomial,ring)+3"}};
  for (const auto& [collective, name] : kDerived) found.push_back(*find_algorithm(collective, name));
  return found;
}

// Insides are looked for where an algorithm is said to go by them: it must be said of all that do, and of no other.
TEST(Insides, OnlyThoseThatLookInsideNodesDependOnThem) {
  struct Case {
    Ranks nodes;
    bool one_node;
  };
  for (const auto& [nodes, one_node] : {Case{kNodes, false}, Case{Ranks(8), true}}) {
    const Topology outside = topology_of_nodes(8, nodes);
    std::vector<Parts> parts = kParts;
    for (std::size_t rank = 4; rank < 8; ++rank) parts[rank] = {package(static_cast<int>(rank % 2))};
    const Topology inside = add_insides(outside, parts);
    for (const Algorithm& algorithm : registered_and_derived()) {
      const bool for_one_node = algorithm.needs.memory != Memory::none && !algorithm.uses_node_memory();
      if (algorithm.needs_prediction() || (for_one_node && !one_node)) continue;
      const bool depends = messages_of(algorithm, outside, nodes) != messages_of(algorithm, inside, nodes);
      EXPECT_EQ(looks_inside_nodes(algorithm, one_node), depends)
          << name_of(algorithm.collective) << " " << algorithm.name << (one_node ? ", one node" : ", two nodes");
    }
  }
}

}  // namespace
}  // namespace stretto::conformance
