// Who waits for a late rank where blocks go through shared memory: nobody who does not need its block.

#include <gtest/gtest.h>

#include <algorithm>

#include "checks.hpp"
#include "transport/sim/world.hpp"

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

}  // namespace
}  // namespace stretto::conformance
