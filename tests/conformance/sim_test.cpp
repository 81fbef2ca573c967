// Conformance on virtual ranks: every algorithm of the catalogue, many process counts, seeded orders of events, every
// order of arrival of up to five ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "conformance/runs.hpp"

namespace stretto::conformance {
namespace {

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, ProcessCounts) {
  std::vector<int> process_counts(17);
  std::iota(process_counts.begin(), process_counts.end(), 1);
  for (int more : {31, 32, 33, 64}) process_counts.push_back(more);
  for (int ranks : ranks_of(process_counts)) {
    for (const std::uint64_t seed : seeds(4, ranks))
      run(GetParam(), options_for(ranks, seed), shapes_for(GetParam(), ranks));
  }
}

TEST_P(EveryAlgorithm, ManyRanks) {
  if (is_among_all(GetParam().collective)) {
    run(GetParam(), options_for(250, 5), {{3, 249, false, false}, {101, 125, true, false}});
  } else {
    run(GetParam(), options_for(1000, 5), {{3, 999, false, false}, {1001, 500, true, false}});
  }
}

TEST_P(EveryAlgorithm, EveryRoot) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::vector<Shape> shapes;
    for (int root = 0; root < ranks; ++root) shapes.push_back({19, root, root % 2 == 0, !GetParam().needs.commutative});
    run(GetParam(), options_for(ranks, 2), shapes);
  }
}

TEST_P(EveryAlgorithm, LongMessagesInWindows) {
  // 50 000 elements are 400 kB: one or several windows of the pool, several of the slots, and several chunks.
  for (int ranks : {2, 3, 8}) {
    for (const std::uint64_t seed : seeds(4, ranks)) {
      run(GetParam(), options_for(ranks, seed), {{50000, ranks - 1, false, false}, {16384, 0, true, false}});
    }
  }
}

TEST_P(EveryAlgorithm, EveryOrderOfArrival) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    std::vector<std::int64_t> place(static_cast<std::size_t>(ranks));
    std::iota(place.begin(), place.end(), 0);
    do {
      for (std::int64_t gap : {300, 1000000}) {  // closer together than a message takes, and far apart
        sim::Options options = options_for(ranks, 1);
        options.arrivals_ns.clear();
        for (std::int64_t p : place) options.arrivals_ns.push_back(p * gap);
        run(GetParam(), options, {{5, ranks - 1, false, false}, {3000, 0, true, false}, {5, 1, false, false}});
      }
    } while (std::next_permutation(place.begin(), place.end()));
  }
}

TEST_P(EveryAlgorithm, RandomArrivals) {
  for (int ranks : ranks_of({6, 8, 13, 16, 32})) {
    for (const std::uint64_t seed : seeds(8, ranks)) {
      for (std::uint64_t span : {3'000, 30'000, 1'000'000}) {
        sim::Options options = options_for(ranks, seed);
        std::mt19937_64 random(seed);
        for (int rank = 0; rank < ranks; ++rank)
          options.arrivals_ns.push_back(static_cast<std::int64_t>(random() % span));
        const int root = static_cast<int>(seed) % ranks;
        run(GetParam(), options, {{5, root, false, false}, {3000, 0, true, false}, {5, ranks - 1, false, false}});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn(algorithms_to_test()), name_of_parameter);

template <class Predicate>
std::vector<Algorithm> those_that(const Predicate& predicate) {
  std::vector<Algorithm> found;
  std::copy_if(algorithms().begin(), algorithms().end(), std::back_inserter(found), predicate);
  return found;
}

class EveryAlgorithmWithAPool : public testing::TestWithParam<Algorithm> {};

// The smallest pool that a communicator takes, where a slot is as long as the whole of it.
TEST_P(EveryAlgorithmWithAPool, LongMessagesInATinyPool) {
  for (const std::uint64_t seed : seeds(4)) {
    sim::Options options = options_for(5, seed);
    options.pool_bytes = 2 * Board::kMinChunkBytes;
    for (int rank = 0; rank < 5; ++rank) options.arrivals_ns.push_back(static_cast<std::int64_t>(seed) * rank * 20'000);
    run(GetParam(), options, {{5000, 4, false, false}, {9000, 0, true, false}, {4096, 1, false, false}});
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithmWithAPool,
                         testing::ValuesIn(those_that([](const Algorithm& algorithm) {
                           return algorithm.needs.memory == Memory::pool;
                         })),
                         name_of_parameter);

class EveryAlgorithmBetweenNodes : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithmBetweenNodes, Placements) {
  for (int ranks : ranks_of({2, 3, 4, 5, 7, 12, 33})) run_under_placements(GetParam(), ranks);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithmBetweenNodes,
                         testing::ValuesIn(those_that([](const Algorithm& algorithm) {
                           return algorithm.needs.memory == Memory::none;
                         })),
                         name_of_parameter);

// Predictions of ranks that arrive `gap` ns one after the other in a seeded order: right, the wrong way round, random.
struct Predicted {
  std::vector<std::int64_t> arrivals_ns;
  std::vector<ArrivalOrder> orders;

  Predicted(int ranks, std::uint64_t seed, std::int64_t gap) : arrivals_ns(static_cast<std::size_t>(ranks)) {
    std::mt19937_64 random(seed);
    std::iota(arrivals_ns.begin(), arrivals_ns.end(), 0);
    std::shuffle(arrivals_ns.begin(), arrivals_ns.end(), random);
    for (std::int64_t& arrival : arrivals_ns) arrival *= gap;
    orders.emplace_back(arrivals_ns);
    std::vector<std::int64_t> times;
    for (std::int64_t arrival : arrivals_ns) times.push_back(-arrival);
    orders.emplace_back(times);
    std::shuffle(times.begin(), times.end(), random);
    orders.emplace_back(times);
  }
};

class EverySortedAlgorithm : public testing::TestWithParam<Algorithm> {
 protected:
  static void run_predicted(const Predicted& predicted, const ArrivalOrder& order, std::uint64_t seed) {
    const int ranks = order.size();
    sim::Options options = options_for(ranks, seed);
    options.arrivals_ns = predicted.arrivals_ns;
    sim::World world(options);
    const std::string name = label(GetParam(), ranks, seed);
    world.run([&](Group& g) -> Task {
      for (unsigned call = 0; call < 6; ++call) {
        const Shape shape{call * 7 % 20, static_cast<int>(seed + call) % ranks, call % 2 == 1, false};
        co_await run_and_check(g, GetParam(), shape, call, name, &order);
      }
      const Shape longer{9000, static_cast<int>(seed) % ranks, seed % 2 == 1, false};
      co_await run_and_check(g, GetParam(), longer, 6, name, &order);
    });
  }
};

TEST_P(EverySortedAlgorithm, AnyPrediction) {
  for (int ranks : ranks_of({1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33})) {
    for (const std::uint64_t seed : seeds(4, ranks)) {
      // All at once, closer together than a step takes, some steps apart, farther than a call takes.
      for (std::int64_t gap : {0, 300, 4'000, 20'000}) {
        const Predicted predicted(ranks, seed, gap);
        for (const ArrivalOrder& order : predicted.orders) run_predicted(predicted, order, seed);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySortedAlgorithm, testing::ValuesIn(those_that([](const Algorithm& algorithm) {
                           return algorithm.needs_prediction();
                         })),
                         name_of_parameter);

// One call that every rank begins ahead of its arrival.
class EveryBackgroundAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryBackgroundAlgorithm, BegunAheadOfTheProgram) {
  for (int ranks : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) {
    for (const std::uint64_t seed : seeds(12, ranks)) {
      const Predicted predicted(ranks, seed, seed % 3 == 0 ? 300 : 200'000);
      for (const ArrivalOrder& order : predicted.orders) {
        sim::Options options = options_for(ranks, seed);
        options.arrivals_ns = predicted.arrivals_ns;
        sim::World world(options);
        const Shape shape{seed % 4 == 0 ? 9000 : seed, static_cast<int>(seed) % ranks, seed % 2 == 0, false};
        const std::string name = label(GetParam(), ranks, seed);
        std::vector<Exchange> exchanges;
        std::vector<Caller> callers(static_cast<std::size_t>(ranks));
        exchanges.reserve(callers.size());
        for (int rank = 0; rank < ranks; ++rank) exchanges.emplace_back(rank, ranks, GetParam(), shape, 3);
        const auto begin = [&](Group& g) -> Task {
          Call call = exchanges[static_cast<std::size_t>(g.rank())].call();
          call.input = call.output = nullptr;  // the program has none yet
          call.order = &order;
          call.ahead = &callers[static_cast<std::size_t>(g.rank())];
          co_await run_algorithm(g, GetParam(), call);
        };
        const auto exits = world.run(begin, [&](Group& g) {
          const auto rank = static_cast<std::size_t>(g.rank());
          const Call& call = exchanges[rank].call();
          callers[rank].arrive(g.endpoint().platform, call.input, call.output);
        });
        for (std::size_t rank = 0; rank < exits.size(); ++rank) {
          exchanges[rank].check(name);
          EXPECT_GE(exits[rank], predicted.arrivals_ns[rank]) << name << ": left before it came";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryBackgroundAlgorithm,
                         testing::ValuesIn(those_that([](const Algorithm& algorithm) {
                           return algorithm.begins_ahead;
                         })),
                         name_of_parameter);

// Who works for 20 ms and is away for 2 ms in every 10 is done 4 ms later, or up to 2 ms more or less by how the
// detours lie.
TEST(Simulation, DetoursHoldRanksUp) {
  sim::Options options;
  options.ranks = 40;
  options.gamma_ns_per_byte = 1;
  options.detours = {10e6, 2e6};
  sim::World world(options);
  const auto exits = world.run([](Group& g) -> Task {
    g.endpoint().platform.charge(Work::reduce, 20'000'000);
    co_return;
  });
  const auto [least, most] = std::minmax_element(exits.begin(), exits.end());
  EXPECT_GE(*least, 22'000'000);
  EXPECT_LE(*most, 26'000'000);
  EXPECT_LT(*least, *most);
}

// Different collectives in a row, none of which waits for all ranks, on one board.
TEST(Board, MixedCallsBackToBack) {
  for (const std::uint64_t seed : seeds(20)) {
    sim::Options options = options_for(6, seed);
    for (int rank = 0; rank < 6; ++rank) options.arrivals_ns.push_back(static_cast<std::int64_t>(rank * seed) * 5000);
    sim::World world(options);
    const auto body = [seed](Group& g) -> Task {
      std::mt19937_64 random(seed);  // the same on every rank
      for (unsigned call = 0; call < 60; ++call) {
        const Algorithm& algorithm = algorithms()[random() % algorithms().size()];
        const Shape shape{random() % 9000, static_cast<int>(random() % 6), random() % 2 == 0, false};
        co_await run_and_check(g, algorithm, shape, call, "mixed seed " + std::to_string(seed));
      }
    };
    world.run(body);
  }
}

// When the root of so many broadcasts is through with them, where the others come after a millisecond.
std::int64_t root_leaves(std::size_t calls, std::size_t elements) {
  sim::Options options = options_for(4, 1);
  options.arrivals_ns = {0, 1'000'000, 1'000'000, 1'000'000};
  sim::World world(options);
  const Algorithm& algorithm = *find_algorithm(Collective::bcast, "arrival_copy");
  const std::vector<Shape> shapes(calls, Shape{elements});
  return world.run([&](Group& g) { return several_calls(g, algorithm, shapes, "ahead"); })[0];
}

TEST(Board, ARankMayBeAsManyCallsAheadAsThereAreGenerations) {
  for (std::size_t elements : {1, 100}) {  // beside the signal, and in a small slot
    EXPECT_LT(root_leaves(Board::kGenerations, elements), 1'000'000);
    EXPECT_GT(root_leaves(Board::kGenerations + 1, elements), 1'000'000);
  }
  EXPECT_LT(root_leaves(2, 2000), 1'000'000);
  EXPECT_GT(root_leaves(3, 2000), 1'000'000);
}

// Which generation each of a row of calls had, on the last rank.
std::vector<const Generation*> generations_of(const std::vector<std::pair<const Algorithm*, Shape>>& calls) {
  sim::Options options = options_for(3, 1);
  options.arrivals_ns = {0, 400'000, 200'000};
  sim::World world(options);
  std::vector<const Generation*> found;
  world.run([&](Group& g) -> Task {
    unsigned number = 0;
    for (const auto& [algorithm, shape] : calls) {
      co_await run_and_check(g, *algorithm, shape, number++, "generations");
      if (g.rank() == 2) found.push_back(&g.board().generation());
    }
  });
  return found;
}

TEST(Board, CallsOfThePoolTakeTwoGenerationsInTurn) {
  const std::pair<const Algorithm*, Shape> short_one(find_algorithm(Collective::bcast, "arrival_copy"), Shape{1});
  const std::pair<const Algorithm*, Shape> long_one(find_algorithm(Collective::reduce, "arrival_stripes"), Shape{1000});
  const auto found = generations_of({short_one, long_one, short_one, long_one, long_one, long_one, long_one,  //
                                     short_one, short_one, short_one, long_one});
  std::vector<std::ptrdiff_t> places;
  for (const Generation* generation : found) places.push_back(generation - found[0]);
  EXPECT_EQ(places, (std::vector<std::ptrdiff_t>{0, 1, 2, 3, 4, 3, 4, 3, 5, 6, 7}));
}

TEST(Simulation, DeadlockIsReportedWithSeedAndRanks) {
  sim::Options options;
  options.ranks = 3;
  options.seed = 77;
  sim::World world(options);
  const auto body = [](Group& g) -> Task {
    std::byte data{};
    if (g.rank() == 1) co_await g.recv(&data, 1, 0);
  };
  try {
    world.run(body);
    FAIL() << "rank 1 waits for a message that nobody sends";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "deadlock with seed 77: ranks 1 wait");
  }
}

}  // namespace
}  // namespace stretto::conformance
