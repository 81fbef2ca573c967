// Every algorithm on real threads, with the waiting code that ranks use. Built with the thread sanitizer in CI: it sees
// every pair of accesses that the board's memory order does not put in order.

#include <gtest/gtest.h>

#include <random>

#include "concurrency/thread_world.hpp"
#include "conformance/checks.hpp"

namespace stretto::concurrency {
namespace {

using conformance::is_brief;
using conformance::run_and_check;
using conformance::run_to_end_and_check;
using conformance::Shape;

void run_back_to_back(ThreadWorld<RealThreads>& world, const Algorithm& algorithm) {
  world.run([&](Group& g) -> Task {
    for (unsigned call = 0; call < (is_brief() ? 10 : 40); ++call) {
      const std::size_t counts[] = {1, 3000, 20000, 0, 96};
      const std::size_t count = counts[call % std::size(counts)];
      const Shape shape{count, static_cast<int>(call) % g.size(), call % 2 == 0, false};
      co_await run_and_check(g, algorithm, shape, call, std::string(algorithm.name) + " on threads");
    }
  });
}

class OnThreads : public testing::TestWithParam<Algorithm> {};

TEST_P(OnThreads, BackToBack) {
  for (int ranks : is_brief() ? std::vector{2, 3, 5} : std::vector{1, 2, 3, 4, 8}) {
    ThreadWorld<RealThreads> world(ranks);
    run_back_to_back(world, GetParam());
    EXPECT_TRUE(world.clears());
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, OnThreads, testing::ValuesIn(conformance::algorithms_to_test()),
                         [](const auto& test) {
                           return std::string(name_of(test.param.collective)) + "_" + std::string(test.param.name);
                         });

// Nodes of two, the last of one where the number of ranks is odd; and of three and two.
TEST(Threads, NodesWithMemoryOfTheirOwn) {
  constexpr std::pair<Collective, const char*> kHierarchies[] = {
      {Collective::allreduce, "hierarchical(arrival_stripes,rabenseifner)"},
      {Collective::allreduce, "hierarchical(arrival_stripes,ring+2)"},
      {Collective::reduce_scatter_block, "hierarchical(arrival_stripes,recursive_halving)"},
      {Collective::reduce_scatter, "hierarchical(arrival_stripes,ring)"},
      {Collective::alltoall, "hierarchical(arrival_copy,linear)"},
      {Collective::barrier, "hierarchical(arrival_count,dissemination)"},
      {Collective::allreduce, "hierarchical(arrival_chain,ring)"},
      {Collective::allreduce, "hierarchical(arrival_leader,recursive_doubling)"},
      {Collective::bcast, "hierarchical(arrival_copy,arrival_ordered)"},
      {Collective::bcast, "hierarchical(arrival_copy,arrival_ordered_nonblocking)"},
      {Collective::allgather, "hierarchical(arrival_copy,ring)"},
      {Collective::allgatherv, "hierarchical(arrival_copy,bruck)"},
      {Collective::scatter, "hierarchical(arrival_copy,linear)"},
      {Collective::gather, "hierarchical(arrival_copy,linear)"}};
  constexpr std::pair<int, int> kRanks[] = {{4, 2}, {5, 2}, {5, 3}, {8, 4}};
  for (const auto& [collective, name] : kHierarchies) {
    for (const auto& [ranks, ranks_per_node] : kRanks) {
      SCOPED_TRACE(std::string(name) + " on " + std::to_string(ranks));
      ThreadWorld<RealThreads> world(ranks, std::size_t{4} << 20, ranks_per_node);
      run_back_to_back(world, *find_algorithm(collective, name));
    }
  }
}

TEST(Threads, MixedCallsBackToBack) {
  for (std::uint64_t seed = 0; seed < (is_brief() ? 3 : 10); ++seed) {
    ThreadWorld<RealThreads> world(5);
    world.run([seed](Group& g) -> Task {
      std::mt19937_64 random(seed);  // the same on every rank
      for (unsigned call = 0; call < 100; ++call) {
        const Algorithm& algorithm = algorithms()[random() % algorithms().size()];
        const Shape shape{random() % 9000, static_cast<int>(random() % 5), random() % 2 == 0, false};
        co_await run_and_check(g, algorithm, shape, call, "mixed seed " + std::to_string(seed));
      }
    });
    EXPECT_TRUE(world.clears());
  }
}

// Short messages are begun without a coroutine around, but for those whose place in the board's ring others have not
// left: with roots that leave early these come, too.
TEST(Threads, BlockingCallsBackToBack) {
  for (std::uint64_t seed = 0; seed < (is_brief() ? 3 : 10); ++seed) {
    ThreadWorld<RealThreads> world(5);
    world.run([seed](Group& g) -> Task {
      std::mt19937_64 random(seed);  // the same on every rank
      for (unsigned call = 0; call < 200; ++call) {
        const Algorithm& algorithm = algorithms()[random() % algorithms().size()];
        const std::size_t most = random() % 4 == 0 ? 9000 : 200;
        const Shape shape{random() % most, static_cast<int>(random() % 5), random() % 2 == 0, false};
        run_to_end_and_check(g, algorithm, shape, call, "blocking, seed " + std::to_string(seed));
      }
      co_return;
    });
    EXPECT_TRUE(world.clears());
  }
}

}  // namespace
}  // namespace stretto::concurrency
