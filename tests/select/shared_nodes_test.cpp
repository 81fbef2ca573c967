// The rule between nodes of which some have several ranks.

#include <gtest/gtest.h>

#include <string>

#include "select/gigabit.hpp"

namespace stretto {
namespace {

TEST(SharedNodes, WhereNodesHaveSeveralRanksTheirPlacesDecide) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  for (const Placement placement : {Placement::side_by_side, Placement::in_turn, Placement::other}) {
    const NodeLayout layout{16, 8, placement};
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
      const std::string chosen = chosen_between_nodes(collective, mebibyte, layout);
      EXPECT_TRUE(chosen == "hierarchical(event_chain,event_chain)" || chosen == "event_topology") << chosen;
    }
    EXPECT_EQ(chosen_between_nodes(Collective::reduce, mebibyte, layout, /*commutative=*/false), "event_binomial")
        << "hierarchies and maps take ranks in another order";
  }
  const auto allreduce = [](Placement placement) {
    return chosen_between_nodes(Collective::allreduce, 64 << 10, {16, 8, placement});
  };
  EXPECT_EQ(allreduce(Placement::in_turn), "rabenseifner@topology");
  EXPECT_EQ(allreduce(Placement::other), "rabenseifner@topology");
  EXPECT_EQ(allreduce(Placement::side_by_side), "native") << "the library's messages cross as few cables";
}

TEST(SharedNodes, NodesThatHaveMemoryMeetInIt) {
  struct Case {
    Collective collective;
    std::size_t bytes;
    std::string within;
  };
  constexpr std::size_t kKiB = 1024;
  const NodeLayout layout{64, 8, Placement::side_by_side, /*boards=*/true};
  for (const auto& [collective, bytes, within] : {Case{Collective::allreduce, 64 * kKiB, "arrival_stripes"},
                                                  {Collective::reduce, 64 * kKiB, "arrival_stripes"},
                                                  {Collective::allgather, 4 * kKiB, "arrival_copy"},
                                                  {Collective::allgatherv, 4 * kKiB, "arrival_copy"},
                                                  {Collective::reduce_scatter, 4 * kKiB, "arrival_stripes"},
                                                  {Collective::gather, 4 * kKiB, "slot_gather"},
                                                  {Collective::gather, 64 * kKiB, "arrival_copy"},
                                                  {Collective::scatter, 4 * kKiB, "arrival_copy"}}) {
    const std::string chosen = chosen_between_nodes(collective, bytes, layout);
    EXPECT_TRUE(chosen.starts_with("hierarchical(" + within)) << name_of(collective) << ": " << chosen;
    const std::string without = chosen_between_nodes(collective, bytes, {64, 8, Placement::side_by_side});
    const Algorithm* const by_messages = find_algorithm(collective, without);
    EXPECT_TRUE(by_messages == nullptr || by_messages->needs.memory == Memory::none) << without;
    const std::string in_order = chosen_between_nodes(collective, bytes, layout, /*commutative=*/false);
    EXPECT_EQ(in_order == chosen, !sums(collective)) << in_order << " keeps no order of ranks";
  }
}

TEST(SharedNodes, NodesThatHaveMemoryMeetInItInTheOrderOfRanksWhereBitsCount) {
  Configuration configuration;
  configuration.deterministic = true;
  const NodeLayout layout{64, 8, Placement::side_by_side, /*boards=*/true};
  Forecast forecast(gigabit(layout), layout, kBesideOpenMpi, /*deterministic=*/true);
  CallFacts facts{Collective::allreduce, 0, 8, true, layout.ranks, false, std::size_t{1} << 26, false};
  facts.forecast = &forecast;
  facts.shared_nodes.boards = true;
  facts.bytes = 1 << 10;
  EXPECT_EQ(choose(configuration, facts)->name, "hierarchical(slot_gather,recursive_doubling)");
  facts.bytes = 1 << 20;
  const Algorithm* const longer = choose(configuration, facts);
  EXPECT_TRUE(longer->deterministic);
  EXPECT_NE(longer->name, "recursive_doubling") << "which runs where nothing is known";
}

TEST(SharedNodes, NobodyWaitsForALateRankThatWouldPassABroadcastOn) {
  const NodeLayout shared{16, 8, Placement::side_by_side, /*boards=*/true};
  const auto bcast = [](const NodeLayout& layout, ArrivalClass arrivals) {
    return chosen_between_nodes(Collective::bcast, 64 << 10, layout, true, arrivals);
  };
  const std::string late = bcast(shared, ArrivalClass::far_apart);
  EXPECT_TRUE(late.starts_with("hierarchical(arrival_copy,arrival_ordered")) << late;
  const std::string alone = bcast({8, 8}, ArrivalClass::far_apart);
  EXPECT_TRUE(alone.starts_with("arrival_ordered") || alone == "event_linear") << alone;
  EXPECT_EQ(bcast(shared, ArrivalClass::balanced).find("ordered"), std::string::npos);
  const auto allreduce = [&](ArrivalClass arrivals) {
    return chosen_between_nodes(Collective::allreduce, 64 << 10, shared, true, arrivals);
  };
  EXPECT_EQ(allreduce(ArrivalClass::far_apart), allreduce(ArrivalClass::balanced)) << "all wait, whatever runs";
}

TEST(SharedNodes, ShortMessagesThatAllOfANodeWaitForAreTheLibrarys) {
  const NodeLayout layout{64, 8, Placement::side_by_side, /*boards=*/true};
  for (const Collective collective :
       {Collective::bcast, Collective::allreduce, Collective::allgather, Collective::barrier}) {
    EXPECT_EQ(chosen_between_nodes(collective, 1023, layout), "native") << name_of(collective);
  }
  // Nor do messages serve these: with two ranks a node they are predicted to take less than they do.
  const NodeLayout few{16, 8, Placement::side_by_side, /*boards=*/true};
  for (const Collective collective : {Collective::scatter, Collective::allgather}) {
    EXPECT_EQ(chosen_between_nodes(collective, 256, few), "native") << name_of(collective);
  }
}

TEST(SharedNodes, RanksThatEachHaveACoreMeetInMemoryWithShortMessagesToo) {
  const NodeLayout layout{256, 8, Placement::side_by_side, /*boards=*/true};
  const auto allgather = [&](std::int64_t near_crowded_ns) {
    return chosen_between_nodes(Collective::allgather, 512, layout, true, ArrivalClass::balanced, near_crowded_ns);
  };
  const std::string alone = allgather(1'500);
  EXPECT_TRUE(alone.starts_with("hierarchical(arrival_copy")) << alone;
  EXPECT_EQ(allgather(20'000), "native") << "whoever waits in memory is woken late";
}

// In stripes the messages of a node are as long as one, and nothing is copied but what each rank takes.
TEST(SharedNodes, StripesOfAllreducesBetweenNodesAreWorthIt) {
  const NodeLayout layout{512, 16, Placement::side_by_side, /*boards=*/true};
  Forecast forecast(gigabit(layout), layout, {});
  const auto cost_ns = [&](std::string_view name) {
    return forecast.cost_ns(*find_algorithm(Collective::allreduce, name), std::size_t{1} << 20);
  };
  EXPECT_LT(cost_ns("hierarchical(arrival_stripes,rabenseifner)"), cost_ns("rabenseifner"));
}

TEST(SharedNodes, StripesOfAllreducesAreCopiedOnce) {
  const NodeLayout layout{512, 16, Placement::side_by_side, /*boards=*/true};
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const auto cost_ns = [&](std::int64_t copy_ns_a_byte) {
    Machine machine = gigabit(layout);
    machine.works[0].cores = 1;
    for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
      machine.works[0].copy.ns[i] = copy_ns_a_byte * static_cast<std::int64_t>(Curve::kLengths[i]);
    }
    const Algorithm& stripes = *find_algorithm(Collective::allreduce, "hierarchical(arrival_stripes,ring)");
    return Forecast(machine, layout, {}).cost_ns(stripes, kBytes);
  };
  // By each rank what it takes, and by the ring between 16 nodes a block of its stripe.
  EXPECT_NEAR(cost_ns(3) - cost_ns(1), 2.0 * (kBytes + kBytes / 32 / 16), 1);
}

// 16 teams of a node at once: as long as one rank with all of it where they share a wire, else a part of that.
TEST(SharedNodes, TeamsShareAWireAsFarAsTheRanksOfANodeDo) {
  const NodeLayout layout{128, 8, Placement::side_by_side, /*boards=*/true};
  const auto cost_ns = [&](Collective collective, const char* name, std::int64_t crowded_byte_ps) {
    Machine machine = gigabit(layout);
    machine.crowded.byte_ps = crowded_byte_ps;
    return Forecast(machine, layout, {}).cost_ns(*find_algorithm(collective, name), 1 << 20);
  };
  constexpr std::pair<Collective, const char*> kInTeams[] = {
      {Collective::allreduce, "hierarchical(arrival_stripes,rabenseifner)"},
      {Collective::reduce_scatter_block, "hierarchical(arrival_stripes,recursive_halving)"},
      {Collective::alltoall, "hierarchical(arrival_copy,linear)"}};
  for (const auto& [collective, name] : kInTeams) {
    const double shared_ns = cost_ns(collective, name, 16 * 8'000);
    EXPECT_DOUBLE_EQ(cost_ns(collective, name, 0), shared_ns) << name << ": not known";
    EXPECT_LT(cost_ns(collective, name, 8'000), 0.5 * shared_ns) << name;
  }
  const char* by_leaders = "hierarchical(slot_gather,recursive_doubling)";
  EXPECT_DOUBLE_EQ(cost_ns(Collective::allreduce, by_leaders, 8'000),
                   cost_ns(Collective::allreduce, by_leaders, 16 * 8'000));
}

// Of 32 ranks a node one message goes to each other node, or as many as there are ranks.
TEST(SharedNodes, WhatTakesManyShortMessagesMeetsInMemory) {
  NodeLayout layout{256, 8, Placement::side_by_side, /*boards=*/true};
  const auto chosen = [&](Collective collective, std::size_t bytes, std::int64_t near_crowded_ns) {
    return chosen_between_nodes(collective, bytes, layout, true, ArrivalClass::balanced, near_crowded_ns);
  };
  constexpr std::int64_t kACoreEach = 1'500;
  constexpr std::int64_t kSharedCores = 20'000;
  EXPECT_EQ(chosen(Collective::barrier, 0, kACoreEach), "hierarchical(arrival_count,dissemination)");
  EXPECT_EQ(chosen(Collective::barrier, 0, kSharedCores), "native") << "whoever waits in memory is woken late";
  const std::string alltoall = chosen(Collective::alltoall, 8, kACoreEach);
  EXPECT_TRUE(alltoall.starts_with("hierarchical(arrival_copy")) << alltoall;
  EXPECT_EQ(chosen(Collective::alltoall, 64 << 10, kACoreEach), "native") << "the wire takes what it takes";
  const std::string reduce_scatter = chosen(Collective::reduce_scatter_block, 4 << 10, kACoreEach);
  EXPECT_TRUE(reduce_scatter.starts_with("hierarchical(arrival_stripes")) << reduce_scatter;
  layout.uneven = true;
  EXPECT_EQ(chosen(Collective::alltoall, 8, kACoreEach), "native") << "some ranks have no mate on each node";
  EXPECT_EQ(chosen(Collective::barrier, 0, kACoreEach), "hierarchical(arrival_count,dissemination)");
}

TEST(SharedNodes, WhereNothingIsKnownOfACrowdTheRanksOfANodeShareItsWire) {
  const NodeLayout layout{64, 8};
  Machine unknown = gigabit(layout);
  unknown.crowded.byte_ps = 0;
  const Algorithm& allreduce = *find_algorithm(Collective::allreduce, "rabenseifner");
  const auto cost_ns = [&](const Machine& machine) {
    return Forecast(machine, layout, {}).cost_ns(allreduce, std::size_t{1} << 20);
  };
  EXPECT_DOUBLE_EQ(cost_ns(unknown), cost_ns(gigabit(layout)));
  unknown.crowded.byte_ps = 1;
  EXPECT_LT(cost_ns(unknown), cost_ns(gigabit(layout)));
}

TEST(SharedNodes, APipelineKeepsAllRanksOfANodeBusy) {
  const NodeLayout layout{256, 8};
  Machine slow = gigabit(layout);
  slow.crowded.near_byte_ps = 16'000;
  const auto cost_ns = [&](const Machine& machine, std::size_t bytes) {
    return Forecast(machine, layout, {}).cost_ns(*find_algorithm(Collective::bcast, "event_topology"), bytes);
  };
  EXPECT_GT(cost_ns(slow, 8 << 20), 1.5 * cost_ns(gigabit(layout), 8 << 20));
  EXPECT_DOUBLE_EQ(cost_ns(slow, 8), cost_ns(gigabit(layout), 8));
}

TEST(SharedNodes, ATreeTakesAtLeastWhatItsBusiestNodeSends) {
  const NodeLayout layout{64, 4};
  Forecast forecast(gigabit(layout), layout, kBesideOpenMpi);
  // Ranks 16 to 31 send to 33 to 63 of other nodes. The cost is the mean of four times, the run time among them.
  constexpr std::size_t kBytes = 32 << 10;
  const double message_ns = 8.0 * kBytes;
  EXPECT_GE(4 * forecast.cost_ns(*find_algorithm(Collective::bcast, "event_binary"), kBytes), 31 * message_ns);
}

}  // namespace
}  // namespace stretto
