// The rule that chooses: what serves a call, by default and where the user forces something.

#include "select/rules.hpp"

#include <gtest/gtest.h>

#include <string>

#include "board/board.hpp"
#include "select/forecast.hpp"

namespace stretto {
namespace {

// 30 us and 8 ns a byte between nodes, 1 us and 0.1 ns within; a message of 56 KiB leaves at once.
// Ranks of a node share its network.
Machine gigabit(const NodeLayout& layout) {
  const auto link = [](std::int64_t alpha_ns, std::int64_t byte_ps) {
    Link made;
    for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
      made.message.ns[i] = alpha_ns + static_cast<std::int64_t>(Curve::kLengths[i]) * byte_ps / 1000;
      made.gap.ns[i] = made.message.ns[i] - alpha_ns * 3 / 4;
    }
    made.eager_bytes = 56 << 10;
    return made;
  };
  Machine machine;
  machine.know(Level::machine, link(30'000, 8'000));
  machine.know(Level::node, link(1'000, 100));
  machine.crowded = {30'000, 8'000 * layout.most_on_a_node()};
  return machine;
}

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

// What serves a call of ranks that lie so, by a rule that knows the machine.
std::string chosen_between_nodes(Collective collective, std::size_t bytes, const NodeLayout& layout,
                                 bool commutative = true, ArrivalClass arrivals = ArrivalClass::balanced) {
  Forecast forecast(gigabit(layout), layout, kBesideOpenMpi);
  CallFacts facts{collective, bytes, 8, commutative, layout.ranks, false, 0, false};
  facts.forecast = &forecast;
  facts.arrivals = arrivals;
  facts.shared_nodes.boards = layout.boards;
  facts.pool_window = layout.boards ? std::size_t{1} << 26 : 0;
  const Algorithm* const algorithm = choose({}, facts);
  return algorithm == nullptr ? "native" : std::string(algorithm->name);
}

TEST(Rules, LongMessagesBetweenNodesArePipelined) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  for (const int ranks : {8, 64}) {
    for (const Collective collective : {Collective::reduce, Collective::bcast}) {
      EXPECT_EQ(chosen_between_nodes(collective, 16 * mebibyte, {ranks, ranks}), "event_chain");
    }
    EXPECT_EQ(chosen_between_nodes(Collective::allgather, mebibyte, {ranks, ranks}), "ring");
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
  EXPECT_EQ(chosen_between_nodes(Collective::bcast, 8, {1024, 1024}), "native");
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
}

TEST(Rules, BlocksOnANode) {
  const Configuration configuration;
  for (const auto& [collective, of_short_ones] : {std::pair{Collective::scatter, "arrival_copy"},
                                                  {Collective::gather, "slot_gather"},
                                                  {Collective::allgather, "slot_exchange"}}) {
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

TEST(Rules, BlocksForEachRankOnANode) {
  const Configuration configuration;
  for (Collective collective : {Collective::alltoall, Collective::reduce_scatter_block}) {
    CallFacts facts{collective, 1024, 1, true, 4, true, std::size_t{1} << 24, false};
    EXPECT_EQ(choose(configuration, facts)->name, "slot_exchange");
    EXPECT_TRUE(may_serve(configuration, collective, facts.bytes, facts.ranks, true));
    EXPECT_FALSE(may_serve(configuration, collective, 8, facts.ranks, false)) << "between nodes";
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

TEST(Rules, WhereNodesHaveSeveralRanksTheirPlacesDecide) {
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

TEST(Rules, NodesThatHaveMemoryMeetInIt) {
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

TEST(Rules, NodesThatHaveMemoryMeetInItInTheOrderOfRanksWhereBitsCount) {
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

TEST(Rules, NobodyWaitsForALateRankThatWouldPassABroadcastOn) {
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

TEST(Rules, ShortMessagesThatAllOfANodeWaitForAreTheLibrarys) {
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

TEST(Rules, ATreeTakesAtLeastWhatItsBusiestNodeSends) {
  const NodeLayout layout{64, 4};
  Forecast forecast(gigabit(layout), layout, kBesideOpenMpi);
  // Ranks 16 to 31 send to 33 to 63 of other nodes. The cost is the mean of four times, the run time among them.
  constexpr std::size_t kBytes = 32 << 10;
  const double message_ns = 8.0 * kBytes;
  EXPECT_GE(4 * forecast.cost_ns(*find_algorithm(Collective::bcast, "event_binary"), kBytes), 31 * message_ns);
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
