// Conformance on virtual ranks of what is derived from the catalogue: in segments, on renumbered ranks, in hierarchies.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/placements.hpp"
#include "conformance/runs.hpp"

namespace stretto::conformance {
namespace {

/// In few segments, and in so many that they wait for each other.
std::vector<Algorithm> pipelined_algorithms() {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (!can_be_pipelined(algorithm)) continue;
    for (const char* suffix : {"+3", "+1K"}) {
      found.push_back(*find_algorithm(algorithm.collective, std::string(algorithm.name) + suffix));
    }
  }
  return found;
}

class EveryPipelinedAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryPipelinedAlgorithm, CountsAndArrivals) {
  for (int ranks : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t seed : seeds(4, ranks)) {
      sim::Options options = options_for(ranks, seed);
      std::mt19937_64 random(seed);
      for (int rank = 0; rank < ranks; ++rank)
        options.arrivals_ns.push_back(static_cast<std::int64_t>(random() % 30'000));
      run(GetParam(), options, shapes_for(GetParam(), ranks));
      run(GetParam(), options, {{50000, ranks - 1, false, false}, {16384, 0, true, false}});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPipelinedAlgorithm, testing::ValuesIn(pipelined_algorithms()),
                         name_of_parameter);

/// Of each collective that can be served so: with algorithms of several kinds, in segments, and of three levels.
std::vector<Algorithm> hierarchical_algorithms() {
  constexpr std::pair<Collective, const char*> kNames[] = {
      {Collective::allreduce, "hierarchical(reduce_scatter_gather,rabenseifner)"},
      {Collective::allreduce, "hierarchical(event_binary,ring+3)"},
      {Collective::allreduce, "hierarchical(binomial,recursive_doubling)+3"},
      {Collective::allreduce, "hierarchical(hierarchical(binomial,event_chain),hierarchical(binomial,ring))"},
      {Collective::allreduce, "hierarchical(arrival_stripes,rabenseifner)"},
      {Collective::allreduce, "hierarchical(arrival_leader,recursive_doubling)"},
      {Collective::allreduce, "hierarchical(arrival_chain,ring+3)"},
      {Collective::reduce, "hierarchical(slot_gather,event_chain)"},
      {Collective::reduce, "hierarchical(arrival_stripes,reduce_scatter_gather)"},
      {Collective::bcast, "hierarchical(arrival_copy,event_binary)"},
      {Collective::barrier, "hierarchical(arrival_count,dissemination)"},
      {Collective::reduce, "hierarchical(binomial,reduce_scatter_gather)"},
      {Collective::reduce, "hierarchical(hierarchical(binomial,event_chain),hierarchical(binomial,event_binary))"},
      {Collective::bcast, "hierarchical(binomial,scatter_allgather)"},
      {Collective::bcast, "hierarchical(arrival_ordered,event_chain)"},
      {Collective::bcast, "hierarchical(arrival_copy,arrival_ordered)"},
      {Collective::bcast, "hierarchical(arrival_copy,arrival_ordered_nonblocking)"},
      {Collective::bcast, "hierarchical(event_knomial,hierarchical(binomial,binomial))+1K"},
      {Collective::barrier, "hierarchical(dissemination,dissemination)"},
      {Collective::allreduce, "hierarchical(arrival_stripes,rendezvous_tree)"},
      {Collective::reduce, "hierarchical(binomial,hierarchical(binomial,rendezvous_tree))+3"},
      {Collective::scatter, "hierarchical(binomial,linear)"},
      {Collective::scatter, "hierarchical(arrival_copy,linear_nonblocking)"},
      {Collective::scatter, "hierarchical(hierarchical(linear,linear),linear)"},
      {Collective::gather, "hierarchical(binomial,linear_synchronised)"},
      {Collective::gather, "hierarchical(arrival_copy,linear)"},
      {Collective::gather, "hierarchical(hierarchical(binomial,linear),linear_nonblocking)"},
      {Collective::allgather, "hierarchical(binomial,ring)"},
      {Collective::allgather, "hierarchical(linear,bruck)+3"},
      {Collective::allgather, "hierarchical(arrival_copy,recursive_doubling)"},
      {Collective::allgather, "hierarchical(linear_nonblocking,arrival_ordered)"},
      {Collective::allgatherv, "hierarchical(arrival_copy,ring)"},
      {Collective::allgatherv, "hierarchical(arrival_copy,bruck)"},
      {Collective::reduce_scatter_block, "hierarchical(arrival_stripes,recursive_halving)"},
      {Collective::reduce_scatter, "hierarchical(arrival_stripes,recursive_halving)"},
      {Collective::reduce_scatter, "hierarchical(arrival_stripes,ring)"},
      {Collective::reduce_scatter_block, "hierarchical(arrival_stripes,ring)"},
      {Collective::alltoall, "hierarchical(arrival_copy,linear)"},
      {Collective::alltoall, "hierarchical(arrival_copy,bruck)"},
      // No hierarchies, but trees that ask for places as those do.
      {Collective::bcast, "event_topology"},
      {Collective::reduce, "event_topology"},
      {Collective::bcast, "hierarchical(binomial,event_topology)"}};
  std::vector<Algorithm> found;
  for (const auto& [collective, name] : kNames) found.push_back(*find_algorithm(collective, name));
  return found;
}

class EveryHierarchy : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryHierarchy, PlacementsAndRoots) {
  for (int ranks : ranks_of({1, 2, 3, 5, 8, 13, 33, 64})) {
    // Where each rank has all blocks, together they have these lengths.
    constexpr Collective kOfAll[] = {Collective::allgather, Collective::reduce_scatter_block, Collective::alltoall};
    const bool of_all = std::ranges::count(kOfAll, without_lengths(GetParam().collective)) > 0;
    const auto n = [&](std::size_t elements) { return of_all ? elements / static_cast<std::size_t>(ranks) : elements; };
    // The last in several windows, where it goes through a pool.
    const Shape longest{n(40'000), ranks / 2, false, false};
    run_under_placements(GetParam(), ranks, {{n(5000), ranks - 1, false, false}, {n(9000), 0, true, false}, longest});
  }
}

// Switches, nodes and packages: those of a hierarchy within a hierarchy.
TEST_P(EveryHierarchy, OfMoreLevels) {
  for (int ranks : ranks_of({7, 16, 40})) {
    for (Placement placement : kPlacements) {
      sim::Options options = options_for(ranks, 3);
      options.topology = cluster(ranks, 4, placement);
      options.nodes = nodes_of(*options.topology);
      options.shared_memory = GetParam().needs.memory != Memory::none;
      run(GetParam(), options, shapes_for(GetParam(), ranks));
    }
  }
}

// In segments too: whoever does not lead a node speaks to the ranks of its own only. Which rank that is, is not known
// ahead of first comers (late_rank_test.cpp).
TEST_P(EveryHierarchy, LeadersSpeakForTheirNodes) {
  constexpr int kRanks = 12;
  constexpr int kRoot = 7;
  sim::Options options = options_for(kRanks, 1);
  options.ranks_per_node = 3;
  options.shared_memory = GetParam().needs.memory != Memory::none;
  constexpr Collective kInTeams[] = {Collective::reduce_scatter_block, Collective::alltoall};
  const Collective collective = without_lengths(GetParam().collective);
  const bool only_teams = std::ranges::count(kInTeams, collective) > 0;
  constexpr Collective kRootless[] = {Collective::allreduce, Collective::barrier, Collective::allgather};
  const int root = only_teams || std::ranges::count(kRootless, collective) > 0 ? 0 : kRoot;
  const auto leads = [&](int rank) { return rank == root || (rank % 3 == 0 && rank / 3 != root / 3); };
  const bool in_teams = only_teams || GetParam().name == "hierarchical(arrival_stripes,rabenseifner)";  // each leads
  const bool by_first_comers = GetParam().name.starts_with("hierarchical(arrival_copy,arrival_ordered");
  int between = 0;
  std::set<int> speakers;
  options.on_send = [&](int from, int to, std::size_t) {
    if (from / 3 == to / 3) return;
    ++between;
    speakers.insert({from, to});
    if (by_first_comers) return;
    EXPECT_TRUE(in_teams ? from % 3 == to % 3 : leads(from) && leads(to)) << from << " to " << to;
  };
  run(GetParam(), options, {{5000, root, false, false}});
  EXPECT_GE(between, 3);
  EXPECT_EQ(speakers.size(), in_teams ? 12U : 4U);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryHierarchy, testing::ValuesIn(hierarchical_algorithms()), name_of_parameter);

// Luo et al. 2018: one message between two nodes, or two switches, for each but the root's.
TEST(TopologyTree, EntersEachUnitOnce) {
  constexpr int kRanks = 30;
  for (Placement placement : kPlacements) {
    for (int root : {0, 17}) {
      sim::Options options;
      options.ranks = kRanks;
      options.shared_memory = false;
      options.topology = cluster(kRanks, 4, placement);
      const Topology topology = *options.topology;
      std::set<std::pair<int, int>> edges;
      options.on_send = [&](int from, int to, std::size_t bytes) {
        if (bytes > 0) edges.emplace(from, to);
      };
      run(*find_algorithm(Collective::bcast, "event_topology"), options, {{100'000, root, false, false}});
      EXPECT_EQ(edges.size(), kRanks - 1U);
      for (int far = 2; far <= topology.greatest_distance(); ++far) {  // units that are so far apart
        std::vector<int> units;
        for (int rank = 0; rank < kRanks; ++rank) {
          const auto near = [&](int other) { return topology.distance(rank, other) < far; };
          if (std::ranges::none_of(units, near)) units.push_back(rank);
        }
        const auto enters = [&](const auto& edge) { return topology.distance(edge.first, edge.second) >= far; };
        EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(edges, enters)), units.size() - 1) << far;
      }
    }
  }
}

/// With the map that suits them, or another, and in segments as well.
std::vector<Algorithm> mapped_algorithms() {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (!can_be_mapped(algorithm)) continue;
    const bool has_own = find_map_kind(algorithm, "topology") != nullptr;
    const std::string name = std::string(algorithm.name) + (has_own ? "@topology" : "@rabenseifner");
    found.push_back(*find_algorithm(algorithm.collective, name));
    if (can_be_pipelined(algorithm)) found.push_back(*find_algorithm(algorithm.collective, name + "+3"));
  }
  return found;
}

class EveryMappedAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryMappedAlgorithm, PlacementsAndRoots) {
  for (int ranks : ranks_of({1, 2, 3, 5, 8, 13, 33})) run_under_placements(GetParam(), ranks);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMappedAlgorithm, testing::ValuesIn(mapped_algorithms()), name_of_parameter);

}  // namespace
}  // namespace stretto::conformance
