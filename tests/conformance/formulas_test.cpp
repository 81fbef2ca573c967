// The sim transport against the closed formulas of Proficz 2020, equations 3 to 24: equal to the nanosecond where the
// paper's assumptions hold, that is where every message waits for its receiver and copying costs nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "conformance/checks.hpp"
#include "transport/sim/world.hpp"

namespace stretto::conformance {
namespace {

constexpr std::int64_t kAlphaNs = 12'000;
constexpr std::int64_t kBlockBytes = 100'000;  // more than the first segment of a synchronised gather
constexpr std::int64_t kBlockNs = 8 * kBlockBytes;
constexpr std::int64_t kDelays[] = {0, 7'000, 900'000, 40'000'000};  // none, below a block's time, above, long
constexpr int kProcessCounts[] = {2, 4, 8, 32, 128};                 // powers of two, as the paper's trees assume

struct Times {
  std::int64_t run;          // equation 1
  std::int64_t elapsed_sum;  // P times equation 2
};

/// A call with root 0 under `arrivals_ns`, of which everybody knows ahead.
Times time_of(Collective collective, const char* name, const std::vector<std::int64_t>& arrivals_ns) {
  const Algorithm& algorithm = *find_algorithm(collective, name);
  const int ranks = static_cast<int>(arrivals_ns.size());
  sim::Options options;
  options.ranks = ranks;
  options.intra = {kAlphaNs, static_cast<double>(kBlockNs) / kBlockBytes};
  options.gamma_ns_per_byte = options.delta_ns_per_byte = 0;
  options.eager_bytes = 0;
  options.arrivals_ns = arrivals_ns;
  options.shared_memory = false;
  sim::World world(options);
  const ArrivalOrder order(arrivals_ns);
  const bool ahead = algorithm.begins_ahead;

  std::vector<Exchange> exchanges;
  std::vector<Caller> callers(arrivals_ns.size());
  exchanges.reserve(arrivals_ns.size());
  for (int rank = 0; rank < ranks; ++rank)
    exchanges.emplace_back(rank, ranks, algorithm, Shape{kBlockBytes / 8, 0, false, false}, 1);
  const auto begin = [&](Group& g) -> Task {
    Call call = exchanges[static_cast<std::size_t>(g.rank())].call();
    call.order = &order;
    if (ahead) call.ahead = &callers[static_cast<std::size_t>(g.rank())];
    co_await run_algorithm(g, algorithm, call);
  };
  const auto arrive = [&](Group& g) {
    const auto rank = static_cast<std::size_t>(g.rank());
    callers[rank].arrive(g.endpoint().platform, exchanges[rank].call().input, exchanges[rank].call().output);
  };
  const auto exits = world.run(begin, ahead ? sim::World::Arrive(arrive) : nullptr);
  for (const Exchange& exchange : exchanges) exchange.check(name);
  const auto total = [](const std::vector<std::int64_t>& times) {
    return std::accumulate(times.begin(), times.end(), std::int64_t{0});
  };
  return {*std::max_element(exits.begin(), exits.end()) - *std::min_element(arrivals_ns.begin(), arrivals_ns.end()),
          total(exits) - total(arrivals_ns)};
}

std::vector<std::int64_t> flat(int ranks) { return std::vector<std::int64_t>(static_cast<std::size_t>(ranks)); }
std::vector<std::int64_t> late(int ranks, int rank, std::int64_t delay_ns) {
  std::vector<std::int64_t> arrivals = flat(ranks);
  arrivals[static_cast<std::size_t>(rank)] = delay_ns;
  return arrivals;
}

std::int64_t log2_of(int ranks) { return std::countr_zero(static_cast<unsigned>(ranks)); }
std::int64_t linear_ns(int ranks) { return (ranks - 1) * (kAlphaNs + kBlockNs); }                   // eq. 3
std::int64_t synchronised_ns(int ranks) { return (ranks - 1) * (3 * kAlphaNs + kBlockNs); }         // eq. 5
std::int64_t binomial_ns(int ranks) { return log2_of(ranks) * kAlphaNs + (ranks - 1) * kBlockNs; }  // eq. 7
constexpr auto kScatter = Collective::scatter;
constexpr auto kGather = Collective::gather;

class Formulas : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
};

TEST_P(Formulas, Balanced) {
  for (const char* name : {"linear", "sorted_linear", "background_sorted_linear"})
    EXPECT_EQ(time_of(kScatter, name, flat(p)).run, linear_ns(p)) << name << ", eq. 3";
  EXPECT_EQ(time_of(kGather, "linear", flat(p)).run, linear_ns(p)) << "eq. 3";
  for (Collective collective : {kScatter, kGather})
    EXPECT_EQ(2 * time_of(collective, "linear", flat(p)).elapsed_sum, (p + 2) * linear_ns(p)) << "eq. 4";
  for (const char* name :
       {"linear_synchronised", "sorted_linear_synchronised", "background_sorted_linear_synchronised"}) {
    EXPECT_EQ(time_of(kGather, name, flat(p)).run, synchronised_ns(p)) << name << ", eq. 5";
    EXPECT_EQ(2 * time_of(kGather, name, flat(p)).elapsed_sum, (p + 2) * synchronised_ns(p)) << name << ", eq. 6";
  }
  std::int64_t climbing = 0;  // eq. 8
  for (int i = 0; i < log2_of(p); ++i) climbing += (p >> i) * (kAlphaNs + (1 << i) * kBlockNs);
  EXPECT_EQ(climbing, 2 * (p - 1) * kAlphaNs + log2_of(p) * p * kBlockNs) << "the paper's closed form of eq. 8";
  for (const char* name : {"binomial", "sorted_binomial", "background_sorted_binomial"}) {
    EXPECT_EQ(time_of(kScatter, name, flat(p)).run, binomial_ns(p)) << name << ", eq. 7";
    EXPECT_EQ(time_of(kScatter, name, flat(p)).elapsed_sum, p * binomial_ns(p)) << name << ", eq. 7";
    EXPECT_EQ(time_of(kGather, name, flat(p)).run, binomial_ns(p)) << name << ", eq. 7";
    EXPECT_EQ(time_of(kGather, name, flat(p)).elapsed_sum, climbing) << name << ", eq. 8";
  }
}

TEST_P(Formulas, ScatterWithOneLateReceiver) {
  for (std::int64_t delay : kDelays) {
    const auto first = late(p, 1, delay);
    EXPECT_EQ(time_of(kScatter, "linear", first).run, delay + linear_ns(p)) << "eq. 9";
    EXPECT_EQ(time_of(kScatter, "sorted_linear", first).run, std::max(delay + kAlphaNs + kBlockNs, linear_ns(p)))
        << "eq. 10";
    EXPECT_EQ(time_of(kScatter, "background_sorted_linear", first).run, std::max(delay, linear_ns(p))) << "eq. 11";

    const auto first_of_tree = late(p, p / 2, delay);  // the first that a binomial root serves
    EXPECT_EQ(time_of(kScatter, "binomial", first_of_tree).run, delay + binomial_ns(p)) << "eq. 13";
    EXPECT_EQ(time_of(kScatter, "sorted_binomial", first_of_tree).run,
              std::max(delay + kAlphaNs + kBlockNs, binomial_ns(p)))
        << "eq. 14";
    EXPECT_EQ(time_of(kScatter, "background_sorted_binomial", first_of_tree).run, std::max(delay, binomial_ns(p)))
        << "eq. 15";
  }
}

TEST_P(Formulas, ScatterWithALateRoot) {
  for (std::int64_t delay : kDelays) {
    for (const char* name : {"linear", "sorted_linear", "background_sorted_linear"})
      EXPECT_EQ(time_of(kScatter, name, late(p, 0, delay)).run, delay + linear_ns(p)) << name << ", eq. 12";
    for (const char* name : {"binomial", "sorted_binomial", "background_sorted_binomial"})
      EXPECT_EQ(time_of(kScatter, name, late(p, 0, delay)).run, delay + binomial_ns(p)) << name << ", eq. 16";
  }
}

TEST_P(Formulas, GatherWithOneLateSender) {
  for (std::int64_t delay : kDelays) {
    const auto first = late(p, 1, delay);
    EXPECT_EQ(time_of(kGather, "linear_synchronised", first).run, delay + synchronised_ns(p)) << "eq. 17";
    for (const char* name : {"sorted_linear_synchronised", "background_sorted_linear_synchronised"})
      EXPECT_EQ(time_of(kGather, name, first).run, std::max(delay + 3 * kAlphaNs + kBlockNs, synchronised_ns(p)))
          << name << ", eq. 18";

    // The last that a binomial root hears of, and the first that must hear itself.
    const auto inner = late(p, p / 2, delay);
    for (const char* name : {"binomial", "sorted_binomial"})
      EXPECT_EQ(time_of(kGather, name, inner).run, delay + binomial_ns(p)) << name << ", eq. 21";
    // Equation 22 writes (P-1)/2 blocks for the late node's sub-tree, which has P/2.
    EXPECT_EQ(time_of(kGather, "background_sorted_binomial", inner).run,
              std::max(delay + kAlphaNs + p / 2 * kBlockNs, binomial_ns(p)))
        << "eq. 22";
  }
}

TEST_P(Formulas, GatherWithALateRoot) {
  for (std::int64_t delay : kDelays) {
    const auto root = late(p, 0, delay);
    for (const char* name : {"linear_synchronised", "sorted_linear_synchronised"})
      EXPECT_EQ(time_of(kGather, name, root).run, delay + synchronised_ns(p)) << name << ", eq. 19";
    EXPECT_EQ(time_of(kGather, "background_sorted_linear_synchronised", root).run, std::max(delay, synchronised_ns(p)))
        << "eq. 20";
    for (const char* name : {"binomial", "sorted_binomial"})
      EXPECT_EQ(time_of(kGather, name, root).run, delay + binomial_ns(p)) << name << ", eq. 23";
    EXPECT_EQ(time_of(kGather, "background_sorted_binomial", root).run, std::max(delay, binomial_ns(p))) << "eq. 24";
  }
}

INSTANTIATE_TEST_SUITE_P(Proficz2020, Formulas, testing::ValuesIn(kProcessCounts));

}  // namespace
}  // namespace stretto::conformance
