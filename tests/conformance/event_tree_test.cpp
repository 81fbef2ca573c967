// Who is delayed by one late rank: with event-driven trees those alone who need its data, or to whom it must give them;
// with Waitall others as well (Luo et al. 2018).

#include <gtest/gtest.h>

#include <set>

#include "algorithms/parts/tree_shapes.hpp"
#include "conformance/checks.hpp"
#include "transport/sim/world.hpp"

namespace stretto::conformance {
namespace {

constexpr std::int64_t kLateNs = 1'000'000'000;  // longer than all else together
constexpr std::size_t kElements = 16'384;

struct Shape {
  const char* name;
  TreeShape tree;
};
constexpr Shape kShapes[] = {
    {"chain", kChain}, {"binary", kBinary}, {"binomial", kBinomial}, {"knomial", kQuadrinomial}, {"linear", kFlat}};
constexpr int kRankCounts[] = {2, 5, 16, 21};

std::vector<std::int64_t> exits_of(const Algorithm& algorithm, int ranks, int root, int late) {
  sim::Options options;
  options.ranks = ranks;
  options.eager_bytes = 0;  // every message waits for its receiver
  options.shared_memory = false;
  options.arrivals_ns.assign(static_cast<std::size_t>(ranks), 0);
  if (late >= 0) options.arrivals_ns[static_cast<std::size_t>(late)] = kLateNs;
  sim::World world(options);
  std::vector<Exchange> exchanges;
  exchanges.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    exchanges.emplace_back(rank, ranks, algorithm, conformance::Shape{kElements, root, false, false}, 1);
  const auto exits = world.run([&](Group& g) -> Task {
    const Call call = exchanges[static_cast<std::size_t>(g.rank())].call();
    co_await run_algorithm(g, algorithm, call);
  });
  for (const Exchange& exchange : exchanges) exchange.check(algorithm.name.data());
  return exits;
}

/// Those who leave about as late as the late rank comes.
std::set<int> delayed(const Algorithm& algorithm, int ranks, int root, int late) {
  const auto together = exits_of(algorithm, ranks, root, -1);
  const auto exits = exits_of(algorithm, ranks, root, late);
  const std::int64_t longest = *std::max_element(together.begin(), together.end());
  std::set<int> found;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t exit = exits[static_cast<std::size_t>(rank)];
    if (exit >= kLateNs) found.insert(rank);
    // The others' messages share the ports in another order without the late rank's: a tenth is left for that.
    EXPECT_LE(exit, longest + longest / 10 + (exit >= kLateNs ? kLateNs : 0)) << algorithm.name << ", rank " << rank;
  }
  return found;
}

void add_descendants(TreeShape tree, int rank, int root, int ranks, std::set<int>& found) {
  for (int child : place_in(tree, rank, root, ranks).children) {
    found.insert(child);
    add_descendants(tree, child, root, ranks, found);
  }
}

/// Of a broadcast: the late rank, all to whom its data go on, and its parent, which has to give it the data.
std::set<int> below(TreeShape tree, int late, int root, int ranks) {
  std::set<int> found{late, place_in(tree, late, root, ranks).parent};
  add_descendants(tree, late, root, ranks, found);
  return found;
}

/// Of a reduce: the late rank, all to whom its data go on, and its children, who have to give it theirs.
std::set<int> above(TreeShape tree, int late, int root, int ranks) {
  std::set<int> found{late};
  for (int child : place_in(tree, late, root, ranks).children) found.insert(child);
  for (int rank = late; rank != root;) found.insert(rank = place_in(tree, rank, root, ranks).parent);
  return found;
}

const Algorithm& find(Collective collective, const char* kind, const Shape& shape) {
  const std::string name = std::string(kind) + "_" + shape.name;
  const Algorithm* algorithm = find_algorithm(collective, name);
  if (algorithm == nullptr) throw std::invalid_argument(name);
  return *algorithm;
}

class EventTree : public testing::TestWithParam<Shape> {};

TEST_P(EventTree, ALateRankDelaysABroadcastBelowItOnly) {
  const Algorithm& algorithm = find(Collective::bcast, "event", GetParam());
  for (int ranks : kRankCounts) {
    const int root = ranks / 3;
    for (int late = 0; late < ranks; ++late) {
      if (late == root) continue;
      EXPECT_EQ(delayed(algorithm, ranks, root, late), below(GetParam().tree, late, root, ranks))
          << ranks << " ranks, " << late << " late";
    }
  }
}

TEST_P(EventTree, ALateRankDelaysAReduceAboveItOnly) {
  const Algorithm& algorithm = find(Collective::reduce, "event", GetParam());
  for (int ranks : kRankCounts) {
    const int root = ranks / 3;
    for (int late = 0; late < ranks; ++late) {
      EXPECT_EQ(delayed(algorithm, ranks, root, late), above(GetParam().tree, late, root, ranks))
          << ranks << " ranks, " << late << " late";
    }
  }
}

class WaitallTree : public EventTree {};

TEST_P(WaitallTree, OthersAreDelayedToo) {
  constexpr int kRanks = 16;
  std::size_t more = 0;
  for (int late = 1; late < kRanks; ++late) {
    const auto expected = below(GetParam().tree, late, 0, kRanks);
    const auto found = delayed(find(Collective::bcast, "waitall", GetParam()), kRanks, 0, late);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
    more += found.size() - expected.size();
  }
  EXPECT_GT(more, 0U);
}

std::string name_of_shape(const testing::TestParamInfo<Shape>& parameter) { return parameter.param.name; }

INSTANTIATE_TEST_SUITE_P(Shapes, EventTree, testing::ValuesIn(kShapes), name_of_shape);
// There is no flat one.
INSTANTIATE_TEST_SUITE_P(Shapes, WaitallTree, testing::ValuesIn(kShapes, std::end(kShapes) - 1), name_of_shape);

}  // namespace
}  // namespace stretto::conformance
