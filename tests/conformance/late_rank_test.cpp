// Who waits for a late rank where data go through shared memory: nobody who does not need what it has.

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/runs.hpp"

namespace stretto::conformance {
namespace {

// Scatter and gather by arrival_copy with root 3 of 8, one rank late by a millisecond, blocks in slots and in the pool.
class OneLateRank : public testing::TestWithParam<std::size_t> {
 protected:
  static constexpr int kRoot = 3;
  static constexpr std::int64_t kLateNs = 1'000'000;
  const std::int64_t copy_ns =
      static_cast<std::int64_t>(static_cast<double>(8 * GetParam()) * kOptions.delta_ns_per_byte);
  const std::int64_t signal_ns = static_cast<std::int64_t>(kOptions.signal_ns);

  /// When each rank leaves.
  std::vector<std::int64_t> exits(Collective collective, std::size_t late_rank) const {
    sim::Options options = kOptions;
    options.ranks = 8;
    options.pool_bytes = 2 << 20;
    options.arrivals_ns.assign(8, 0);
    options.arrivals_ns[late_rank] = kLateNs;
    sim::World world(options);
    return world.run([&](Group& g) {
      const Shape shape{GetParam(), kRoot, false, false};
      return run_and_check(g, *find_algorithm(collective, "arrival_copy"), shape, 0, "one late rank");
    });
  }

 private:
  inline static const sim::Options kOptions;
};

TEST_P(OneLateRank, OfAScatterFindsItsBlock) {
  const auto left = exits(Collective::scatter, 1);
  for (std::size_t rank = 0; rank < left.size(); ++rank)
    EXPECT_EQ(left[rank] >= kLateNs, rank == 1) << "rank " << rank << " waits only if it is the late one";
  EXPECT_EQ(left[1], kLateNs + copy_ns);
}

TEST_P(OneLateRank, OfAGatherIsTakenLast) {
  const auto left = exits(Collective::gather, 1);
  for (std::size_t rank = 0; rank < left.size(); ++rank)
    EXPECT_EQ(left[rank] >= kLateNs, rank == 1 || rank == kRoot) << "rank " << rank << " waits for nobody";
  EXPECT_EQ(left[kRoot], kLateNs + 2 * copy_ns + signal_ns) << "the others' blocks were taken before";
}

TEST_P(OneLateRank, IsTheRoot) {
  const auto scattered = exits(Collective::scatter, kRoot);
  EXPECT_LE(*std::max_element(scattered.begin(), scattered.end()), kLateNs + 8 * copy_ns + signal_ns);
  const auto gathered = exits(Collective::gather, kRoot);
  EXPECT_EQ(gathered[kRoot], kLateNs + 8 * copy_ns);
  EXPECT_LT(gathered[0], kLateNs);
}

INSTANTIATE_TEST_SUITE_P(Elements, OneLateRank, testing::Values(10, 1000, 10000));

// Three nodes of three ranks.
sim::Options three_nodes() {
  sim::Options options;
  options.ranks = 9;
  options.ranks_per_node = 3;
  options.pool_bytes = 2 << 20;
  options.arrivals_ns.assign(9, 0);
  return options;
}

constexpr const char* kFirstComers[] = {"hierarchical(arrival_copy,arrival_ordered)",
                                        "hierarchical(arrival_copy,arrival_ordered_nonblocking)"};

TEST(FirstComers, ALateRankKeepsNobody) {
  constexpr std::int64_t kLateNs = 10'000'000;
  const auto exits = [&](const char* name, std::size_t late_rank, std::size_t count) {
    sim::Options options = three_nodes();
    options.arrivals_ns[late_rank] = kLateNs;
    sim::World world(options);
    return world.run([&](Group& g) {
      return run_and_check(g, *find_algorithm(Collective::bcast, name), {count, 1, false, false}, 0, name);
    });
  };
  const auto late_ones = [&](const std::vector<std::int64_t>& left) {
    return std::ranges::count_if(left, [&](std::int64_t exit_ns) { return exit_ns >= kLateNs; });
  };
  for (std::size_t count : {std::size_t{10}, std::size_t{40'000}}) {
    for (std::size_t late_rank : {std::size_t{0}, std::size_t{3}, std::size_t{4}}) {
      for (const char* name : kFirstComers) {
        SCOPED_TRACE(std::string(name) + ", late: " + std::to_string(late_rank));
        const auto left = exits(name, late_rank, count);
        EXPECT_EQ(late_ones(left), 1);
        EXPECT_LT(left[late_rank], kLateNs + 100'000) << "the message was there";
      }
    }
    EXPECT_GT(late_ones(exits("hierarchical(arrival_copy,binomial)", 3, count)), 1) << "a fixed leader is waited for";
  }
}

// While root 0 waits for the last node, another is done with this call and the next, and announces itself for a third.
TEST(FirstComers, AnnounceThemselvesCallsAhead) {
  for (const char* name : kFirstComers) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      sim::Options options = three_nodes();
      options.seed = seed;
      options.jitter_ns = 3000;
      for (std::size_t rank = 6; rank < 9; ++rank) options.arrivals_ns[rank] = 10'000'000;
      std::vector<Shape> calls;
      for (int root : {0, 3, 0, 4, 1, 0, 6, 0}) calls.push_back({1000, root, false, false});
      run(*find_algorithm(Collective::bcast, name), options, calls);
    }
  }
}

}  // namespace
}  // namespace stretto::conformance
