// The rule that chooses: what serves a call, by default and where the user forces something.

#include "select/rules.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "board/board.hpp"
#include "select/forecast.hpp"
#include "select/gigabit.hpp"
#include "select/node_rule.hpp"

namespace stretto {
namespace {

TEST(Rules, EveryChoiceCanServe) {
  const Configuration configuration;
  for (Collective collective : kCollectives) {
    for (std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{40000}, std::size_t{1} << 30}) {
      for (bool commutative : {false, true}) {
        for (bool shared_memory : {false, true}) {
          CallFacts facts{collective, bytes, 1, commutative, 8, shared_memory, std::size_t{1} << 20, false};
          Forecast forecast(gigabit({8, 8}), {8, 8}, kBesideOpenMpi);
          if (!shared_memory) facts.forecast = &forecast;
          const Algorithm* chosen = choose(configuration, facts);
          EXPECT_TRUE(chosen == nullptr || can_serve(*chosen, facts));
          EXPECT_TRUE(chosen == nullptr || shared_memory || chosen->needs.memory == Memory::none);
          EXPECT_TRUE(chosen == nullptr || may_serve(configuration, collective, bytes, facts.ranks, shared_memory));
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
          CallFacts facts{collective, bytes, 1, commutative, 8, shared_memory, std::size_t{1} << 20, false};
          Forecast forecast(gigabit({8, 8}), {8, 8}, kBesideOpenMpi);
          if (!shared_memory) facts.forecast = &forecast;
          const Algorithm* chosen = choose(configuration, facts);
          ASSERT_NE(chosen, nullptr) << name_of(collective) << ", " << bytes << " bytes";
          EXPECT_TRUE(chosen->deterministic) << chosen->name;
        }
      }
    }
  }
}

TEST(Rules, LongMessagesBetweenNodesArePipelined) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  for (const int ranks : {8, 64}) {
    for (const Collective collective : {Collective::reduce, Collective::bcast}) {
      EXPECT_EQ(chosen_between_nodes(collective, 16 * mebibyte, {ranks, ranks}), "event_chain");
    }
    EXPECT_EQ(chosen_between_nodes(Collective::allgather, mebibyte, {ranks, ranks}), "ring");
    EXPECT_EQ(chosen_between_nodes(Collective::allgatherv, mebibyte, {ranks, ranks}), "ring");
  }
  EXPECT_EQ(chosen_between_nodes(Collective::allreduce, 16 * mebibyte, {8, 8}), "ring+448K");
  EXPECT_EQ(chosen_between_nodes(Collective::bcast, 128 << 10, {64, 64}), "event_binary");
  EXPECT_EQ(chosen_between_nodes(Collective::allreduce, 1024 * mebibyte, {13, 13}), "ring+640K")
      << "three digits of 728";
  EXPECT_EQ(chosen_between_nodes(Collective::allreduce, 1024 * mebibyte, {200, 200}), "ring+10M");
}

TEST(Rules, ShortMessagesBetweenFewNodesGoToTheirRanksAtOnce) {
  EXPECT_EQ(chosen_between_nodes(Collective::reduce, 8, {8, 8}), "event_linear");
  EXPECT_EQ(chosen_between_nodes(Collective::reduce, 8, {1024, 1024}), "event_knomial");
  for (const int ranks : {8, 1024}) EXPECT_EQ(chosen_between_nodes(Collective::bcast, 1023, {ranks, ranks}), "native");
  EXPECT_EQ(chosen_between_nodes(Collective::bcast, 64 << 10, {8, 8}), "event_chain");
  for (const Collective collective : {Collective::scatter, Collective::gather}) {
    EXPECT_EQ(chosen_between_nodes(collective, 8, {8, 8}), "linear_nonblocking") << name_of(collective);
    EXPECT_EQ(chosen_between_nodes(collective, 8, {256, 256}), "native") << name_of(collective);
    EXPECT_EQ(chosen_between_nodes(collective, 4 << 10, {64, 64}), "linear_nonblocking") << name_of(collective);
  }
}

TEST(Rules, OtherShortMessagesBetweenNodesAreTheLibrarys) {
  for (const Collective collective : kCollectives) {
    const bool is_rooted = collective == Collective::bcast || collective == Collective::reduce ||
                           collective == Collective::scatter || collective == Collective::gather;
    if (is_rooted) continue;
    EXPECT_EQ(chosen_between_nodes(collective, 8, {8, 8}), "native") << name_of(collective);
  }
}

TEST(Rules, WithoutAForecastAllIsLeftToTheLibrary) {
  CallFacts facts{Collective::bcast, 1 << 20, 8, true, 8, false, 0, false};
  EXPECT_EQ(choose({}, facts), nullptr);
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
  EXPECT_EQ(chosen_between_nodes(Collective::gather, 512 << 10, {8, 8}), "linear_nonblocking");
  EXPECT_EQ(chosen_between_nodes(Collective::gather, (512 << 10) + 1, {8, 8}), "native");
  EXPECT_EQ(chosen_between_nodes(Collective::scatter, 32 << 10, {8, 8}), "linear_nonblocking");
  EXPECT_EQ(chosen_between_nodes(Collective::scatter, 128 << 10, {8, 8}), "announced_linear");
}

TEST(Rules, BlocksOfSumsOnANode) {
  CallFacts facts{Collective::reduce_scatter_block, 2 << 20, 1, true, 4, true, std::size_t{1} << 26, false};
  EXPECT_EQ(choose({}, facts)->name, "slot_exchange");
  ++facts.bytes;
  EXPECT_EQ(choose({}, facts)->name, "ring") << "of more than 32 MiB in all";
  EXPECT_TRUE(may_serve({}, facts.collective, facts.bytes, facts.ranks, true));
  facts.commutative = false;
  const Algorithm* const in_order = choose({}, facts);
  EXPECT_TRUE(in_order == nullptr || can_serve(*in_order, facts));
  facts = {Collective::reduce_scatter_block, (32 << 10) - 1, 1, true, 65, true, std::size_t{1} << 26, false};
  EXPECT_EQ(choose({}, facts), nullptr);
  facts.collective = Collective::reduce_scatter;
  EXPECT_FALSE(may_serve({}, facts.collective, facts.bytes, facts.ranks, true));
  facts.bytes = 32 << 10;
  EXPECT_EQ(choose({}, facts)->name, "ring");
  EXPECT_TRUE(may_serve({}, facts.collective, facts.bytes, facts.ranks, true));
}

TEST(Rules, BlocksOnANode) {
  const Configuration configuration;
  for (const auto& [collective, of_short_ones] : {std::pair{Collective::scatter, "arrival_copy"},
                                                  {Collective::gather, "slot_gather"},
                                                  {Collective::allgather, "slot_exchange"},
                                                  {Collective::allgatherv, "slot_exchange"}}) {
    CallFacts facts{collective, 2 << 10, 1, true, 4, true, std::size_t{1} << 22, false};
    EXPECT_EQ(choose(configuration, facts)->name, "arrival_copy");
    for (const std::size_t bytes : {std::size_t{8}, (std::size_t{2} << 10) - 1}) {
      facts.bytes = bytes;
      EXPECT_EQ(choose(configuration, facts)->name, of_short_ones);
    }
    EXPECT_TRUE(may_serve(configuration, collective, facts.bytes, facts.ranks, true));
    facts.ranks = 65;
    EXPECT_EQ(choose(configuration, facts), nullptr);
    EXPECT_FALSE(may_serve(configuration, collective, facts.bytes, facts.ranks, true));
    EXPECT_TRUE(may_serve(configuration, collective, facts.bytes, facts.ranks, false));
  }
}

TEST(Rules, TwoRanksThatComeTogetherCopyLongBlocksOnce) {
  for (const Collective collective : {Collective::allgather, Collective::allgatherv}) {
    CallFacts facts{collective, 256 << 10, 1, true, 2, true, std::size_t{1} << 22, false};
    EXPECT_EQ(choose({}, facts)->name, "arrival_copy");
    facts.single_copy = true;
    EXPECT_EQ(choose({}, facts)->name, "ring");
    for (const auto& [bytes, ranks, uneven] :
         {std::tuple{(256 << 10) - 1, 2, false}, {256 << 10, 3, false}, {256 << 10, 2, true}}) {
      facts.bytes = static_cast<std::size_t>(bytes);
      facts.ranks = ranks;
      facts.uneven = uneven;
      EXPECT_EQ(choose({}, facts)->name, "arrival_copy");
    }
  }
}

// The rule's borders may lie elsewhere on a machine of more ranks than it was measured with.
TEST(Rules, BeyondItsBordersTheNodeRuleHasOthersToOffer) {
  struct Case {
    Collective collective;
    std::size_t bytes;
    int ranks;
    std::vector<std::string_view> names;  // the usual one first
  };
  const Case cases[] = {{Collective::allreduce, 64, 32, {"slot_exchange"}},
                        {Collective::allreduce, 512, 32, {"slot_exchange", "arrival_stripes"}},
                        {Collective::allreduce, 2048, 32, {"arrival_stripes", "slot_exchange"}},
                        {Collective::allreduce, 8192, 32, {"arrival_stripes"}},
                        {Collective::reduce, 8 << 10, 16, {"arrival_stripes", "slot_gather"}},
                        {Collective::barrier, 0, 2, {"slot_exchange"}},
                        {Collective::barrier, 0, 16, {"slot_exchange", "arrival_count"}},
                        {Collective::barrier, 0, 64, {"arrival_count", "slot_exchange"}},
                        {Collective::gather, 256, 16, {"slot_gather", "arrival_copy"}},
                        {Collective::gather, 255, 16, {"slot_gather"}},
                        {Collective::allgather, 4 << 10, 16, {"arrival_copy", "slot_exchange"}},
                        {Collective::alltoall, 2 << 10, 16, {"arrival_copy", "slot_exchange"}},
                        {Collective::bcast, 1 << 10, 16, {"arrival_copy"}},
                        {Collective::alltoall, 1 << 20, 16, {"native"}}};
  for (const Case& each : cases) {
    const std::string where = std::string(name_of(each.collective)) + ", " + std::to_string(each.bytes) + " bytes";
    CallFacts facts{each.collective, each.bytes, 1, true, each.ranks, true, std::size_t{1} << 26, false};
    const auto count = static_cast<int>(each.names.size());
    EXPECT_EQ(node_candidates(each.collective, each.bytes, each.ranks)[0], count) << where;
    for (facts.candidate = 0; facts.candidate <= count; ++facts.candidate) {
      const Algorithm* const chosen = choose({}, facts);
      const auto expected = each.names[static_cast<std::size_t>(facts.candidate % count)];
      EXPECT_EQ(chosen == nullptr ? "native" : chosen->name, expected) << where << ", " << facts.candidate;
    }
  }
}

TEST(Rules, ExperienceChoosesWhereTheNodeRuleWasNotMeasured) {
  Configuration configuration;
  const auto adapts_with = [&](int ranks) {
    return adaptation_of(configuration, {Collective::barrier, 0, 1, true, ranks, true, 0, false}).has_value();
  };
  EXPECT_FALSE(adapts_with(8));
  EXPECT_TRUE(adapts_with(9));
  for (const Adapt adapt : {Adapt::off, Adapt::listen}) {
    configuration.adapt = adapt;
    EXPECT_FALSE(adapts_with(9));
  }
  configuration.adapt = Adapt::on;
  EXPECT_TRUE(adapts_with(2));
}

TEST(Rules, BlocksForEachRankOnANode) {
  const Configuration configuration;
  for (Collective collective : {Collective::alltoall, Collective::reduce_scatter_block}) {
    CallFacts facts{collective, 1024, 1, true, 4, true, std::size_t{1} << 24, false};
    EXPECT_EQ(choose(configuration, facts)->name, "slot_exchange");
    EXPECT_TRUE(may_serve(configuration, collective, facts.bytes, facts.ranks, true));
    EXPECT_TRUE(may_serve(configuration, collective, 8, facts.ranks, false)) << "between nodes";
    EXPECT_TRUE(may_serve(configuration, collective)) << "some calls of it";
    facts.ranks = 65;
    EXPECT_EQ(choose(configuration, facts), nullptr);
    EXPECT_FALSE(may_serve(configuration, collective, facts.bytes, facts.ranks, true));
  }
  CallFacts facts{Collective::alltoall, 0, 1, true, 4, true, std::size_t{1} << 24, false};
  for (const auto& [ranks, longest] : {std::pair{4, std::size_t{512} << 10}, {16, std::size_t{128} << 10}}) {
    facts.ranks = ranks;
    for (const std::size_t bytes : {std::size_t{2049}, longest}) {
      facts.bytes = bytes;
      EXPECT_EQ(choose(configuration, facts)->name, "arrival_copy");
      EXPECT_TRUE(may_serve(configuration, facts.collective, bytes, ranks, true));
    }
    facts.bytes = longest + 1;
    EXPECT_EQ(choose(configuration, facts), nullptr);
    EXPECT_FALSE(may_serve(configuration, facts.collective, facts.bytes, ranks, true));
  }
}

TEST(Rules, TheBackgroundIsUsedWhereItIsAskedForAndPossible) {
  Configuration configuration;
  Forecast forecast(gigabit({8, 8}), {8, 8}, kBesideOpenMpi);
  CallFacts facts{Collective::gather, 256 << 10, 1, true, 8, false, 0, false, true};
  facts.forecast = &forecast;
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
  configuration.background = Background::thread;
  EXPECT_EQ(choose(configuration, facts)->name, "background_linear_nonblocking");
  facts.may_begin_ahead = false;
  EXPECT_EQ(choose(configuration, facts)->name, "linear_nonblocking");
}

// As where ranks of eight nodes have two cores: however a message spreads, all of it is sent seven times.
TEST(Rules, TreesTakeAtLeastWhatAllRanksCanSendAtOnce) {
  const NodeLayout layout{8, 8};
  Machine machine = gigabit(layout);
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    EXPECT_EQ(Forecast(machine, layout, kBesideOpenMpi).best(collective, kMebibyte, true)->name, "event_chain");
  }
  machine.crowded.byte_ps *= 8;
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    Forecast forecast(machine, layout, kBesideOpenMpi);
    const std::string_view best = forecast.best(collective, kMebibyte, true)->name;
    EXPECT_TRUE(best == "binomial" || best == "event_knomial") << best << ": a chain has the most messages";
    EXPECT_GE(4 * forecast.cost_ns(*find_algorithm(collective, "event_chain"), kMebibyte), 7 * 8.0 * kMebibyte);
  }
}

// What the library runs, too, it runs as well where messages are short only.
TEST(Rules, AmongLongAllreducesIsWhatTheLibraryRuns) {
  const NodeLayout layout{8, 8};
  Forecast forecast(gigabit(layout), layout, kBesideOpenMpi);
  const auto is_among = [&](std::size_t bytes) {
    const int places = forecast.places(Collective::allreduce, bytes).front();
    for (int place = 0; place < places; ++place) {
      const Algorithm* const algorithm =
          forecast.best(Collective::allreduce, bytes, true, ArrivalClass::balanced, place);
      if (algorithm != nullptr && algorithm->name == "rabenseifner") return true;
    }
    return false;
  };
  EXPECT_FALSE(is_among(64 << 10));
  EXPECT_TRUE(is_among(1 << 20));
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
