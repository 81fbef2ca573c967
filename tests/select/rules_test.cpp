// The rule that chooses: what serves a call, by default and where the user forces something.

#include "select/rules.hpp"

#include <gtest/gtest.h>

#include "board/board.hpp"

namespace stretto {
namespace {

TEST(Rules, EveryChoiceCanServe) {
  const Configuration configuration;
  for (Collective collective : kCollectives) {
    for (std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{40000}, std::size_t{1} << 30}) {
      for (bool commutative : {false, true}) {
        for (bool shared_memory : {false, true}) {
          const CallFacts facts{collective, bytes, 1, commutative, 8, shared_memory, std::size_t{1} << 20, false};
          const Algorithm* chosen = choose(configuration, facts);
          EXPECT_TRUE(chosen == nullptr || can_serve(*chosen, facts));
          EXPECT_TRUE(chosen == nullptr || shared_memory || chosen->needs.memory == Memory::none);
          EXPECT_TRUE(chosen == nullptr || may_serve(configuration, collective, bytes, facts.ranks));
        }
      }
    }
  }
}

TEST(Rules, DeterministicReductionsAreNeverTheLibrarys) {
  Configuration configuration;
  configuration.deterministic = true;
  for (Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::reduce_scatter_block, Collective::reduce_scatter}) {
    for (std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1} << 20}) {
      for (bool commutative : {false, true}) {
        for (bool shared_memory : {false, true}) {
          EXPECT_TRUE(may_serve(configuration, collective, bytes, 8));
          const CallFacts facts{collective, bytes, 1, commutative, 8, shared_memory, std::size_t{1} << 20, false};
          const Algorithm* chosen = choose(configuration, facts);
          ASSERT_NE(chosen, nullptr) << name_of(collective) << ", " << bytes << " bytes";
          EXPECT_TRUE(chosen->deterministic) << chosen->name;
        }
      }
    }
  }
}

TEST(Rules, LongMessagesBetweenNodesArePipelined) {
  const Configuration configuration;
  const auto name = [&](Collective collective, std::size_t bytes, int ranks) {
    const Algorithm* chosen = choose(configuration, {collective, bytes, 8, true, ranks, false, 0, false});
    return chosen == nullptr ? "" : std::string(chosen->name);
  };
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  EXPECT_EQ(name(Collective::allreduce, mebibyte, 8), "ring+448K");
  EXPECT_EQ(name(Collective::allreduce, 4 * mebibyte, 64), "ring+3584K");
  EXPECT_EQ(name(Collective::reduce, mebibyte, 8), "event_chain");
  EXPECT_EQ(name(Collective::bcast, mebibyte, 8), "event_chain");
  EXPECT_EQ(name(Collective::allgather, mebibyte, 8), "ring");
  EXPECT_EQ(name(Collective::reduce_scatter_block, mebibyte, 8), "ring");
  EXPECT_EQ(name(Collective::bcast, mebibyte, 64), "event_binary");
  for (Collective collective : {Collective::allreduce, Collective::reduce}) {
    EXPECT_EQ(name(collective, mebibyte, 64), "") << "too short for so many ranks";
  }
  for (Collective collective : kCollectives) {
    EXPECT_EQ(name(collective, mebibyte << 10, 65), "") << "not measured";
  }
}

TEST(Rules, UnevenRanksCombineInATree) {
  const Configuration configuration;
  CallFacts facts{Collective::allreduce, 16 << 10, 8, true, 8, true, std::size_t{1} << 22, false};
  EXPECT_EQ(choose(configuration, facts)->name, "arrival_stripes");
  facts.uneven = is_uneven(5'000'000);
  EXPECT_EQ(choose(configuration, facts)->name, "arrival_tree");
  facts.bytes = 1 << 20;
  EXPECT_EQ(choose(configuration, facts)->name, "arrival_stripes");
}

TEST(Rules, LongBlocksBetweenNodes) {
  const Configuration configuration;
  CallFacts facts{Collective::gather, 32 << 10, 1, true, 8, false, 0, false};
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
  facts.collective = Collective::scatter;
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
  facts.bytes = 128 << 10;
  EXPECT_EQ(choose(configuration, facts)->name, "announced_linear");
  facts.ranks = 65;
  EXPECT_EQ(choose(configuration, facts), nullptr);
  facts = {Collective::gather, (32 << 10) - 1, 1, true, 8, false, 0, false};
  EXPECT_EQ(choose(configuration, facts), nullptr);
}

TEST(Rules, BlocksOnANode) {
  const Configuration configuration;
  for (Collective collective : {Collective::scatter, Collective::gather}) {
    CallFacts facts{collective, 2 << 10, 1, true, 4, true, std::size_t{1} << 22, false};
    EXPECT_EQ(choose(configuration, facts)->name, "arrival_copy");
    facts.bytes = 8;
    EXPECT_EQ(choose(configuration, facts), nullptr);
    EXPECT_FALSE(may_serve(configuration, collective, facts.bytes, facts.ranks));
    facts.ranks = 8;
    EXPECT_EQ(choose(configuration, facts)->name, "arrival_copy");
    EXPECT_TRUE(may_serve(configuration, collective, facts.bytes, facts.ranks));
    facts.ranks = 65;
    EXPECT_EQ(choose(configuration, facts), nullptr);
    EXPECT_FALSE(may_serve(configuration, collective, facts.bytes, facts.ranks));
  }
}

TEST(Rules, TheBackgroundIsUsedWhereItIsAskedForAndPossible) {
  Configuration configuration;
  CallFacts facts{Collective::gather, 1 << 20, 1, true, 8, false, 0, false, true};
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
  configuration.background = Background::thread;
  EXPECT_EQ(choose(configuration, facts)->name, "background_linear_nonblocking");
  facts.may_begin_ahead = false;
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
}

TEST(Rules, WhereNodesHaveSeveralRanksTheirPlacesDecide) {
  const Configuration configuration;
  CallFacts facts{Collective::bcast, 4 << 20, 1, true, 16, false, 0, false};
  const auto chosen = [&](Collective collective, std::size_t bytes) {
    facts.collective = collective;
    facts.bytes = bytes;
    const Algorithm* algorithm = choose(configuration, facts);
    return algorithm == nullptr ? std::string_view("native") : algorithm->name;
  };
  EXPECT_EQ(chosen(Collective::bcast, 4 << 20), "event_chain");
  EXPECT_EQ(chosen(Collective::allreduce, 64 << 10), "native");
  facts.shared_nodes = {8, true};
  EXPECT_EQ(chosen(Collective::bcast, 4 << 20), "event_chain@topology");
  EXPECT_EQ(chosen(Collective::bcast, 256 << 10), "hierarchical(event_chain,event_chain)");
  EXPECT_EQ(chosen(Collective::bcast, 64 << 10), "hierarchical(binomial,scatter_allgather)");
  EXPECT_EQ(chosen(Collective::bcast, (64 << 10) - 1), "native");
  EXPECT_EQ(chosen(Collective::allreduce, 512 << 10), "ring@topology+896K");
  EXPECT_EQ(chosen(Collective::allreduce, 64 << 10), "rabenseifner@topology");
  EXPECT_EQ(chosen(Collective::reduce, 4 << 20), "event_chain@topology");
  EXPECT_EQ(chosen(Collective::reduce, 256 << 10), "hierarchical(event_chain,event_chain)");
  EXPECT_EQ(chosen(Collective::reduce, 64 << 10), "hierarchical(binomial,reduce_scatter_gather)");
  facts.shared_nodes.scattered = false;
  EXPECT_EQ(chosen(Collective::allreduce, 512 << 10), "ring@topology+896K");
  EXPECT_EQ(chosen(Collective::allreduce, 64 << 10), "native");
  facts.commutative = false;
  EXPECT_EQ(chosen(Collective::reduce, 4 << 20), "event_chain");
  EXPECT_EQ(chosen(Collective::reduce, 64 << 10), "native");
  EXPECT_EQ(chosen(Collective::allreduce, 64 << 10), "native");
}

TEST(Rules, BlocksOfAllRanksShareThePool) {
  const Algorithm& scatter = *find_algorithm(Collective::scatter, "arrival_copy");
  CallFacts facts{Collective::scatter, 1 << 20, 1 << 18, true, 8, true, std::size_t{1} << 20, false};
  EXPECT_FALSE(can_serve(scatter, facts)) << "one element of each of 8 blocks does not fit the pool";
  facts.ranks = 4;
  EXPECT_TRUE(can_serve(scatter, facts));
  EXPECT_FALSE(scatter.needs_pool(Board::kSlotBytes, 8)) << "each block has a slot of its own";
  facts.shared_memory = false;
  EXPECT_FALSE(can_serve(scatter, facts));
}

TEST(Rules, AHierarchyInMemoryNeedsBoardsOfNodesAndRoomForAnElement) {
  const Algorithm& reduce = *find_algorithm(Collective::reduce, "hierarchical(slot_gather,event_chain)");
  CallFacts facts{Collective::reduce, 1 << 20, 8, true, 8, true, std::size_t{1} << 20, false};
  EXPECT_FALSE(can_serve(reduce, facts)) << "all ranks are on one node";
  facts.shared_memory = false;
  facts.shared_nodes = {4, false, true};
  EXPECT_TRUE(can_serve(reduce, facts));
  facts.element_bytes = Board::kSlotBytes + 8;
  EXPECT_FALSE(can_serve(reduce, facts)) << "no slot holds an element";
  facts.element_bytes = 8;
  facts.shared_nodes.boards = false;
  EXPECT_FALSE(can_serve(reduce, facts));
}

TEST(Rules, AForcedAlgorithmGivesWayWhenItCannotServe) {
  Configuration configuration;
  configuration.choice(Collective::allreduce) = *parse_choice(Collective::allreduce, "ring");
  CallFacts facts{Collective::allreduce, 1 << 20, 8, true, 4, true, std::size_t{1} << 22, false};
  EXPECT_EQ(choose(configuration, facts)->name, "ring");
  facts.commutative = false;
  EXPECT_NE(choose(configuration, facts)->name, "ring");
}

TEST(Rules, DeterministicOnRequest) {
  Configuration configuration;
  configuration.deterministic = true;
  for (Collective collective : kCollectives) {
    for (std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
      const CallFacts facts{collective, bytes, 8, true, 8, true, std::size_t{1} << 22, false};
      const Algorithm* chosen = choose(configuration, facts);
      if (collective > Collective::barrier) continue;  // they move data, which all algorithms do alike
      ASSERT_NE(chosen, nullptr);
      EXPECT_TRUE(chosen->deterministic) << chosen->name;
    }
  }
}

}  // namespace
}  // namespace stretto
