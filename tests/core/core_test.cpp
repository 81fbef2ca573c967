// The parts that the algorithms are built of: structured concurrency, messages cut into blocks, reductions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "algorithms/allreduce/hypercube.hpp"
#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/nodes.hpp"
#include "algorithms/parts/trees.hpp"
#include "core/steady_math.hpp"
#include "select/rules.hpp"
#include "transport/sim/world.hpp"

namespace stretto {
namespace {

// Children of a group run concurrently: two exchanges that each need the other's first half.
Task crosswise(Group& g, std::vector<int>& log, std::uint32_t stream) {
  const int other = 1 - g.rank();
  int mine = 10 * g.rank() + static_cast<int>(stream);
  int theirs = -1;
  if (stream == 0) {
    co_await g.recv(reinterpret_cast<std::byte*>(&theirs), sizeof theirs, other, stream);
    co_await g.send(reinterpret_cast<const std::byte*>(&mine), sizeof mine, other, 1);
  } else {
    co_await g.send(reinterpret_cast<const std::byte*>(&mine), sizeof mine, other, 0);
    co_await g.recv(reinterpret_cast<std::byte*>(&theirs), sizeof theirs, other, stream);
  }
  log.push_back(theirs);
}

TEST(TaskGroup, JoinsChildrenThatNeedEachOther) {
  sim::Options options;
  options.ranks = 2;
  sim::World world(options);
  std::vector<int> logs[2];
  world.run([&](Group& g) -> Task {
    std::vector<int>& log = logs[g.rank()];
    TaskGroup children;
    children.spawn(crosswise(g, log, 0));  // waits for what the second child of the other rank sends
    children.spawn(crosswise(g, log, 1));
    co_await children.join();
    log.push_back(-7);
  });
  EXPECT_EQ(logs[0], (std::vector<int>{11, 10, -7}));
  EXPECT_EQ(logs[1], (std::vector<int>{1, 0, -7}));
}

TEST(TaskGroup, MayBeEmpty) {
  sim::Options options;
  sim::World world(options);
  bool passed = false;
  world.run([&](Group&) -> Task {
    TaskGroup none;
    co_await none.join();
    passed = true;
  });
  EXPECT_TRUE(passed);
}

TEST(Blocks, CoverAMessageOnce) {
  for (std::size_t count : {0U, 1U, 5U, 16U, 17U}) {
    for (std::size_t parts : {1U, 2U, 7U, 16U}) {
      std::size_t next = 0;
      for (std::size_t index = 0; index < parts; ++index) {
        const Block block = even_block(count, parts, index);
        EXPECT_EQ(block.first, next);
        next += block.count;
      }
      EXPECT_EQ(next, count);
      EXPECT_EQ(even_blocks(count, parts, 0, parts).count, count);
    }
  }
}

TEST(Trees, EveryNodeButTheRootHasAParentBelowIt) {
  for (int size = 1; size <= 33; ++size) {
    for (int node = 1; node < size; ++node) EXPECT_LT(node - parent_distance(node, size), node);
    EXPECT_GE(parent_distance(0, size), size);
  }
}

TEST(Hypercube, EveryBlockReachesEveryNodeOnceByNodesThatHaveIt) {
  for (int q = 1; q <= 6; ++q) {
    for (int blocks : {1, 2, 7, 20}) {
      const int nodes = 1 << q;
      std::vector<std::set<int>> has(static_cast<std::size_t>(nodes));
      for (int block = 0; block < blocks; ++block) has.front().insert(block);
      for (int round = 0; round < hypercube_rounds(blocks, q); ++round) {
        const std::vector<std::set<int>> before = has;
        for (int node = 0; node < nodes; ++node) {
          const int neighbour = neighbour_in_round(round, node, q);
          const int block = block_given_in_round(round, node, q);
          if (neighbour == 0 || block < 0 || block >= blocks) continue;
          EXPECT_TRUE(before[static_cast<std::size_t>(node)].contains(block)) << node << " in round " << round;
          EXPECT_TRUE(has[static_cast<std::size_t>(neighbour)].insert(block).second) << "once";
        }
      }
      for (const std::set<int>& mine : has) EXPECT_EQ(mine.size(), static_cast<std::size_t>(blocks));
    }
  }
}

/// What `Nodes` says of ranks that are on `numbers`, as text: a leader and its ranks, node by node.
std::string text_of_nodes(const std::vector<int>& numbers, int root) {
  sim::Options options;
  options.ranks = static_cast<int>(numbers.size());
  options.nodes = numbers;
  sim::World world(options);
  std::string text;
  world.run([&](Group& g) -> Task {
    std::string mine;
    const std::shared_ptr<const Nodes> nodes = nodes_of(g);
    EXPECT_EQ(nodes, nodes_of(g)) << "found out once";
    for (const Node& node : *nodes) {
      mine += std::to_string(node.leader(root)) + ":";
      for (int rank : node.ranks) mine += std::to_string(rank);
      mine += node.is_consecutive() ? " " : "! ";
      for (int rank : node.ranks) {
        EXPECT_EQ(&nodes->of(g, rank), &node);
        EXPECT_EQ(leader_of(g, root, rank), node.leader(root));
      }
    }
    EXPECT_TRUE(text.empty() || text == mine) << "every rank sees the same";
    text = mine;
    co_return;
  });
  return text;
}

TEST(Nodes, AreLedByTheirLowestRankOrTheRoot) {
  EXPECT_EQ(text_of_nodes({0, 0, 0}, 1), "1:012 ");
  EXPECT_EQ(text_of_nodes({7, 7, 3, 3, 3}, 0), "0:01 2:234 ");
  EXPECT_EQ(text_of_nodes({7, 7, 3, 3, 3}, 4), "0:01 4:234 ");
  EXPECT_EQ(text_of_nodes({0, 1, 0, 1, 0}, 3), "0:024! 3:13! ");
  EXPECT_EQ(text_of_nodes({2, 1, 1, 0}, 0), "0:0 1:12 3:3 ");
}

TEST(Reduction, UndefinedPairsHaveNoKernel) {
  EXPECT_EQ(predefined_reduction(Operation::bit_and, Element::float64).combine, nullptr);
  EXPECT_EQ(predefined_reduction(Operation::maximum, Element::complex64).combine, nullptr);
  EXPECT_NE(predefined_reduction(Operation::sum, Element::complex64).combine, nullptr);
}

// Every rank learns the same number, which goes to the true distance between the first and the last arrival.
TEST(Board, RanksAgreeOnTheSkew) {
  sim::Options options;
  options.ranks = 5;
  options.jitter_ns = 2000;
  sim::World world(options);
  std::vector<std::vector<std::int64_t>> learnt(5);
  const Reduction sum = predefined_reduction(Operation::sum, Element::uint64);
  world.run([&](Group& g) -> Task {
    std::vector<std::uint64_t> data(3000, 1);
    std::vector<std::uint64_t> result(3000);
    for (const char* name : {"arrival_stripes", "arrival_tree", "arrival_leader", "arrival_stripes"}) {
      Call call;
      call.input = reinterpret_cast<const std::byte*>(data.data());
      call.output = reinterpret_cast<std::byte*>(result.data());
      call.count = data.size();
      call.element_bytes = 8;
      call.reduction = &sum;
      if (g.rank() == 3) g.endpoint().platform.charge(Work::reduce, 40'000'000);  // 4 ms late
      co_await g.pause();  // takes part again when its clock says so
      Task collective = run_algorithm(g, *find_algorithm(Collective::allreduce, name), call);
      co_await collective;
      learnt[static_cast<std::size_t>(g.rank())].push_back(g.board().recent_skew_ns());
    }
  });
  for (const auto& mine : learnt) EXPECT_EQ(mine, learnt[0]);
  EXPECT_NEAR(static_cast<double>(learnt[0].front()), 1e6, 2e5);  // a quarter of 4 ms after one call
  EXPECT_NEAR(static_cast<double>(learnt[0].back()), 2.73e6, 4e5);
}

TEST(Pipelining, NamesAreAsAUserTypesThem) {
  const auto ring = parse_choice(Collective::allreduce, "ring+4");
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->kind, Choice::Kind::forced);
  EXPECT_EQ(ring->algorithm->name, "ring+4");
  EXPECT_EQ(ring->algorithm->pipelining.segments, 4U);
  EXPECT_EQ(ring->algorithm, parse_choice(Collective::allreduce, "ring+4")->algorithm) << "made once";
  for (const Algorithm& one : algorithms()) EXPECT_EQ(&algorithm_numbered(one.number), &one) << one.name;
  EXPECT_EQ(&algorithm_numbered(ring->algorithm->number), ring->algorithm);
  EXPECT_GE(ring->algorithm->number, algorithms().size());
  const auto long_segments = parse_choice(Collective::allreduce, "rabenseifner+32M");
  ASSERT_TRUE(long_segments);
  EXPECT_EQ(long_segments->algorithm->pipelining.segment_bytes, std::size_t{32} << 20);
  const auto native = parse_choice(Collective::bcast, "native+1K");
  ASSERT_TRUE(native);
  EXPECT_EQ(native->kind, Choice::Kind::native);
  EXPECT_EQ(native->algorithm->name, "native+1K");
  for (const char* wrong : {"ring+", "ring+0", "ring+1", "ring+1025", "ring+0K", "ring+10000K", "ring+4k", "ring+-4",
                            "ring+4+4", "+4", "rong+4", "arrival_stripes+4", "sorted_linear_tree+4", "default+4"}) {
    EXPECT_FALSE(parse_choice(Collective::allreduce, wrong)) << wrong;
  }
  EXPECT_FALSE(parse_choice(Collective::barrier, "dissemination+4"));
  EXPECT_FALSE(parse_choice(Collective::barrier, "native+4"));
}

TEST(Mapping, NamesAreAsAUserTypesThem) {
  const auto ring = parse_choice(Collective::allreduce, "ring@topology");
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->algorithm->name, "ring@topology");
  EXPECT_EQ(ring->algorithm->map->name, "ring");
  EXPECT_FALSE(ring->algorithm->pipelining.cuts());
  EXPECT_TRUE(ring->algorithm->is_derived());
  const auto both = parse_choice(Collective::bcast, "scatter_allgather@recursive_doubling+4");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->algorithm->map->name, "recursive_doubling");
  EXPECT_EQ(both->algorithm->pipelining.segments, 4U);
  EXPECT_FALSE(both->algorithm->needs.commutative);
  EXPECT_TRUE(parse_choice(Collective::reduce, "binomial@topology")->algorithm->needs.commutative)
      << "the order of ranks is another";
  for (const char* wrong : {"ring@", "@ring", "ring@rong", "ring+4@ring", "ring@ring@ring", "native@ring",
                            "default@ring", "arrival_stripes@ring", "sorted_linear_tree@ring"}) {
    EXPECT_FALSE(parse_choice(Collective::allreduce, wrong)) << wrong;
  }
  EXPECT_FALSE(parse_choice(Collective::allgather, "ring@ring")) << "its blocks are those of certain ranks";
  EXPECT_FALSE(parse_choice(Collective::bcast, "arrival_ordered@topology")) << "no map suits it";
}

TEST(Hierarchy, NamesAreAsAUserTypesThem) {
  const auto two = parse_choice(Collective::allreduce, "hierarchical(reduce_scatter_gather,rabenseifner)");
  ASSERT_TRUE(two);
  const Hierarchy& how = *two->algorithm->hierarchy;
  EXPECT_EQ(how.up, find_algorithm(Collective::reduce, "reduce_scatter_gather"));
  EXPECT_EQ(how.between, find_algorithm(Collective::allreduce, "rabenseifner"));
  EXPECT_EQ(how.down, find_algorithm(Collective::bcast, "binomial")) << "bcast has none of the name";
  EXPECT_TRUE(two->algorithm->needs.commutative);
  EXPECT_TRUE(two->algorithm->deterministic);
  EXPECT_TRUE(two->algorithm->is_derived());
  EXPECT_FALSE(how.between->is_derived());
  EXPECT_FALSE(parse_choice(Collective::allreduce, "hierarchical(event_binary,ring)")->algorithm->deterministic);

  const auto three = parse_choice(Collective::bcast, "hierarchical(binomial,hierarchical(event_chain,binomial))+4");
  ASSERT_TRUE(three);
  EXPECT_EQ(three->algorithm->pipelining.segments, 4U);
  EXPECT_EQ(three->algorithm->hierarchy->between->name, "hierarchical(event_chain,binomial)");
  EXPECT_EQ(three->algorithm->hierarchy->up, nullptr);
  EXPECT_FALSE(three->algorithm->needs.commutative);
  EXPECT_EQ(parse_choice(Collective::bcast, "hierarchical(binomial,event_chain+4)")->algorithm->pipelining.segments,
            1U);
  for (const char* wrong :
       {"hierarchical", "hierarchical()", "hierarchical(binomial)", "hierarchical(binomial,)", "hierarchical(,ring)",
        "hierarchical(rong,ring)", "hierarchical(binomial,rong)", "hierarchical(binomial,ring",
        "hierarchical(ring,ring)", "hierarchical(binomial,ring)x", "hierarchical(binomial,ring@ring)",
        "hierarchical(binomial,native)", "hierarchical(binomial,ring)@ring", "hierarchical(binomial,arrival_stripes)",
        "hierarchical(binomial,ring+4)+4", "hierarchical(binomial,ring,ring)", "hierarchical(rendezvous_tree,ring)"}) {
    EXPECT_FALSE(parse_choice(Collective::allreduce, wrong)) << wrong;
  }
}

TEST(Reduction, CodesNameOperationAndElement) {
  std::set<std::uint32_t> codes;
  for (int operation = 0; operation <= static_cast<int>(Operation::bit_xor); ++operation) {
    for (int element = 0; element <= static_cast<int>(Element::boolean); ++element) {
      codes.insert(code_of(static_cast<Operation>(operation), static_cast<Element>(element)));
    }
  }
  EXPECT_EQ(codes.size(), 140U);
  EXPECT_GE(*codes.begin(), 1U);
  EXPECT_LT(*codes.rbegin(), 256U) << "the ledger has a byte for it";
  EXPECT_EQ(name_of_code(code_of(Operation::sum, Element::int8)), "MPI_SUM of int8");
  EXPECT_EQ(name_of_code(code_of(Operation::maximum, Element::uint32)), "MPI_MAX of uint32");
  EXPECT_EQ(name_of_code(code_of(Operation::bit_xor, Element::boolean)), "MPI_BXOR of bool");
}

TEST(Derived, HierarchiesOfBlocks) {
  const auto allgather = parse_choice(Collective::allgather, "hierarchical(linear_synchronised,bruck)+2");
  ASSERT_TRUE(allgather);
  EXPECT_EQ(allgather->algorithm->collective, Collective::allgather);
  EXPECT_FALSE(allgather->algorithm->needs.commutative);
  const Hierarchy& how = *allgather->algorithm->hierarchy;
  EXPECT_EQ(how.up->collective, Collective::gather);
  EXPECT_EQ(how.between->collective, Collective::allgatherv);
  EXPECT_EQ(how.down->name, "binomial") << "bcast has none of the name";
  EXPECT_EQ(parse_choice(Collective::allgather, "hierarchical(arrival_copy,ring)")->algorithm->needs.pool_from, 0U)
      << "all blocks come down as one";
  EXPECT_FALSE(parse_choice(Collective::allgather, "hierarchical(arrival_copy,ring)+2")) << "calls on a board";
  // Between nodes blocks may have several lengths, and nothing is foreseen there.
  EXPECT_FALSE(parse_choice(Collective::scatter, "hierarchical(linear,binomial)"));
  EXPECT_FALSE(parse_choice(Collective::gather, "hierarchical(linear,two_level)"));
  EXPECT_FALSE(parse_choice(Collective::scatter, "hierarchical(sorted_linear,linear)"));
  EXPECT_FALSE(parse_choice(Collective::scatterv, "hierarchical(linear,linear)"));
  EXPECT_FALSE(parse_choice(Collective::alltoall, "hierarchical(linear,linear)"));
}

TEST(Pipelining, SegmentsAreAsLongAsAskedForOrOneElement) {
  EXPECT_EQ(segments_of({4, 0}, 1000, 1000), 4U);
  EXPECT_EQ(segments_of({4, 0}, 24, 3), 3U);
  EXPECT_EQ(segments_of({4, 0}, 0, 0), 1U);
  EXPECT_EQ(segments_of({1, 1024}, 1024, 128), 1U);
  EXPECT_EQ(segments_of({1, 1024}, 1032, 129), 2U);
  EXPECT_EQ(segments_of({1, 1024}, std::size_t{5} << 30, std::size_t{5} << 27), std::size_t{5} << 20);
}

TEST(SteadyMath, IsAsExactAsChoicesNeed) {
  for (double value = 1e-3; value < 1e15; value *= 1.0173) {
    EXPECT_NEAR(steady_log(value), std::log(value), 1e-12 * std::max(1.0, std::abs(std::log(value)))) << value;
    EXPECT_NEAR(steady_exp(std::log(value)) / value, 1, 1e-12) << value;
  }
  EXPECT_EQ(steady_log(1), 0);
  EXPECT_EQ(steady_exp(0), 1);
  EXPECT_NEAR(steady_exp(-700) / std::exp(-700.0), 1, 1e-12);
  EXPECT_NEAR(steady_exp(700) / std::exp(700.0), 1, 1e-12);
}

// Whether in one piece or in many: all of it, and nothing beside.
TEST(Copy, IsWholeWhereverSourceAndTargetLie) {
  constexpr std::size_t kPageBytes = 4096;
  std::vector<std::byte> from(4 * kPageBytes + (1 << 20));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 251);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1024}, std::size_t{1025},
                                  std::size_t{5000}, std::size_t{65'536}, std::size_t{1} << 20}) {
    for (const std::size_t behind : {0, 1, 16, 31, 63, 64, 4095}) {
      std::vector<std::byte> to(from.size() + 2 * kPageBytes, std::byte{0xA5});
      const std::size_t off =
          (reinterpret_cast<std::uintptr_t>(from.data()) - reinterpret_cast<std::uintptr_t>(to.data()));
      const std::size_t begin = 1 + (off + behind - 1) % kPageBytes;
      copy_bytes(to.data() + begin, from.data(), bytes);
      EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes),
                             to.begin() + static_cast<std::ptrdiff_t>(begin)))
          << bytes << " bytes, " << behind << " behind";
      EXPECT_EQ(to[begin - 1], std::byte{0xA5});
      EXPECT_EQ(to[begin + bytes], std::byte{0xA5});
    }
  }
}

}  // namespace
}  // namespace stretto
