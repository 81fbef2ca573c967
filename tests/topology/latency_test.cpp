// Groups of nodes by measured times.

#include "topology/latency.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

namespace stretto {
namespace {

using Time = std::function<double(int from, int to)>;

struct Found {
  std::vector<int> groups;
  std::set<int> landmarks;
};

Found find(int nodes, const Time& time) {
  LatencyGroups latencies(nodes);
  Found found;
  while (const std::optional<int> node = latencies.next()) {
    EXPECT_TRUE(found.landmarks.insert(*node).second) << "node " << *node << " measures twice";
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(nodes));
    for (int to = 0; to < nodes; ++to) times.push_back(time(*node, to));
    latencies.add(*node, std::move(times));
  }
  found.groups = latencies.groups();
  return found;
}

// Of each node the first of those that are by the same number.
std::vector<int> expected(int nodes, const std::function<int(int)>& number) {
  std::vector<int> firsts;
  firsts.reserve(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) {
    int first = 0;
    while (number(first) != number(node)) ++first;
    firsts.push_back(first);
  }
  return firsts;
}

TEST(Latencies, NodesOfASwitchAreAGroup) {
  struct Case {
    int nodes;
    std::function<int(int)> switch_of;
  };
  const Case cases[] = {{4, [](int node) { return node / 2; }},
                        {3, [](int node) { return node / 2; }},  // one is by itself
                        {9, [](int node) { return node % 3; }},
                        {64, [](int node) { return node / 16; }},
                        {200, [](int node) { return node / 8; }},  // more than there are landmarks at first
                        {200, [](int node) { return node < 190 ? 0 : node; }},
                        {1000, [](int node) { return node % 37; }}};
  for (const Case& each : cases) {
    const int nodes = each.nodes;
    const auto& switch_of = each.switch_of;
    std::mt19937_64 random(nodes);
    std::uniform_real_distribution<double> noise(1, 1.2);
    const auto found = find(nodes, [&](int from, int to) {
      const bool disturbed = random() % 1000 == 0;
      return (switch_of(from) == switch_of(to) ? 1.2 : 2.4) * noise(random) * (disturbed ? 20 : 1);
    });
    EXPECT_EQ(found.groups, expected(nodes, switch_of)) << nodes << " nodes";
    EXPECT_LE(found.landmarks.size(), 64U);
  }
}

TEST(Latencies, WithoutAGapAllAreOneGroup) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> noise(1, 3);
  for (int nodes : {1, 2, 20, 300}) {
    const auto found = find(nodes, [&](int, int) { return nodes == 2 ? 1 : nodes < 100 ? 1.3 : noise(random); });
    EXPECT_EQ(found.groups, std::vector<int>(static_cast<std::size_t>(nodes))) << nodes;
    EXPECT_LE(found.landmarks.size(), 8U);
  }
}

// Every so manieth measurement of a landmark is disturbed; between two landmarks, the other one has it right.
TEST(Latencies, DisturbedTimesAreLeftOut) {
  const auto by_halves = [](int from, int to) { return from / 4 == to / 4 ? 1.0 : 2.0; };
  for (int victim = 1; victim < 8; ++victim) {
    const auto found =
        find(8, [&](int from, int to) { return by_halves(from, to) * (from == 0 && to == victim ? 50 : 1); });
    EXPECT_EQ(found.groups, (std::vector<int>{0, 0, 0, 0, 4, 4, 4, 4})) << victim;
  }
}

// Of a network of two levels the wider gap counts.
TEST(Latencies, TheWidestGapCounts) {
  const auto found = find(16, [](int from, int to) {
    return from / 4 == to / 4 ? 1.0 : from / 8 == to / 8 ? 1.6 : 3.5;
  });
  EXPECT_EQ(found.groups, expected(16, [](int node) { return node / 8; }));
}

}  // namespace
}  // namespace stretto
