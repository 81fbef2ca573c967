// What is chosen by prediction against everything else on virtual ranks: how many cells of a seeded sample it is within
// a tenth of the best in. A cell is a number of ranks, of ranks a node, and a length; what counts is what the choice
// is by: the run time and the mean time in the call of ranks that come together, what is left after the last, and what
// others wait for it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "conformance/modelled.hpp"
#include "select/candidates.hpp"
#include "select/forecast.hpp"

namespace stretto::conformance {
namespace {

sim::Options machine_of_links(const sim::Link& between) {
  sim::Options options = make_machine();
  options.inter = between;
  options.eager_bytes = Costs{}.eager_bytes + 1;  // which algorithms cut by
  return options;
}

Link measured(const sim::Link& link) {
  Link found;
  for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
    const double ns = link.alpha_ns + link.beta_ns_per_byte * static_cast<double>(Curve::kLengths[i]);
    found.message.ns[i] = std::llround(ns);
    found.gap.ns[i] = std::llround(ns - link.alpha_ns + link.gap_ns);
  }
  return found;
}

Machine measured(const sim::Options& options) {
  Machine machine;
  machine.know(Level::node, measured(options.intra));
  machine.know(Level::machine, measured(options.inter));
  machine.crowded.byte_ps = std::llround(options.inter.beta_ns_per_byte * 1000);  // all can talk at once
  return machine;
}

// As Forecast::cost_ns has it; the last to come is the root, or one of four others.
double cost_ns(const Algorithm& algorithm, const Place& place, const sim::Options& options) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  const Taken together = take(algorithm, place, Times(ranks), options);
  constexpr std::int64_t kFarApart = 20;  // in terms of the time of ranks that come together
  constexpr std::size_t kDraws = 5;
  double after_last_ns = 0;
  double waiting = 0;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    Times arrivals(ranks);
    arrivals[draw * (ranks - 1) / (kDraws - 1)] = kFarApart * together.lag_ns;
    const Taken taken = take(algorithm, place, arrivals, options);
    after_last_ns += static_cast<double>(taken.lag_ns) / kDraws;
    waiting += taken.mean_ns / static_cast<double>(kFarApart * together.lag_ns) / kDraws;
  }
  const auto run_ns = static_cast<double>(together.lag_ns);
  return (run_ns + together.mean_ns + after_last_ns + waiting * run_ns) / 4;
}

// All that can run anywhere, and what the choice may be beside.
struct Best {
  double ns = std::numeric_limits<double>::max();
  std::string_view name{};
};
Best find_best(Collective collective, const Place& place, const sim::Options& options) {
  Best best;
  for (const Algorithm& algorithm : algorithms()) {
    const bool anywhere = algorithm.collective == collective && algorithm.run != nullptr &&
                          algorithm.needs.memory == Memory::none && !algorithm.needs.words &&
                          !algorithm.needs_prediction();
    const double ns = anywhere ? cost_ns(algorithm, place, options) : best.ns;
    if (ns < best.ns) best = {ns, algorithm.name};
  }
  return best;
}

template <std::size_t size, class T>
const T& draw_from(const T (&values)[size], std::mt19937_64& random) {
  return values[random() % size];
}

const sim::Link kNetworks[] = {{2000, 0.1, 400}, {30000, 8, 5000}, {1000, 0.08, 300}, {20000, 80, 5000}};

Place draw_place(Collective collective, std::mt19937_64& random) {
  constexpr int kRanks[] = {4, 6, 8, 13, 16, 32, 64, 100};
  constexpr int kRanksPerNode[] = {1, 2, 4};
  constexpr std::size_t kLengths[] = {8, 256, 4096, 65536, 1 << 20, 8 << 20};
  constexpr double kMostBytes = 1.5e8;
  for (;;) {
    const Place place{draw_from(kRanks, random), draw_from(kRanksPerNode, random), draw_from(kLengths, random)};
    const double blocks = has_blocks(collective) ? place.ranks : 1;
    const bool fits = static_cast<double>(place.bytes) * place.ranks * blocks <= kMostBytes;
    if (fits && place.ranks_per_node < place.ranks) return place;
  }
}

// Of those in the memory of nodes, of which there are too many for all.
Best find_best_in_memory(Collective collective, const Place& place, const sim::Options& options) {
  Best best;
  for (const std::string_view name : worth_considering_in_memory(collective)) {
    const double ns = cost_ns(*find_algorithm(collective, name), place, options);
    if (ns < best.ns) best = {ns, name};
  }
  return best;
}

// How many of so many cells are good, printing those that are not.
int count_good(Collective collective, int cells, bool in_memory) {
  std::mt19937_64 random(static_cast<std::uint64_t>(collective) + 1);
  int good = 0;
  for (int cell = 0; cell < cells; ++cell) {
    Place place = draw_place(collective, random);
    while (in_memory && place.ranks_per_node == 1) place = draw_place(collective, random);
    const sim::Options options = machine_of_links(draw_from(kNetworks, random));
    const int nodes = (place.ranks + place.ranks_per_node - 1) / place.ranks_per_node;
    const bool uneven = place.ranks % place.ranks_per_node != 0;
    Forecast forecast(measured(options), {place.ranks, nodes, Placement::side_by_side, in_memory, uneven}, {});
    const Algorithm* const best = forecast.best(collective, place.bytes, true);
    const Algorithm& chosen = best != nullptr ? *best : forecast.native_like(collective, place.bytes);
    const double took_ns = cost_ns(chosen, place, options);
    Best least = find_best(collective, place, options);
    const Best there = in_memory ? find_best_in_memory(collective, place, options) : least;
    if (there.ns < least.ns) least = there;
    const bool is_good = took_ns <= 1.1 * least.ns;
    good += is_good ? 1 : 0;
    if (!is_good)
      std::printf("  %d ranks, %d a node, %zu bytes, %.0f ns: %s takes %.2f of %s\n", place.ranks, place.ranks_per_node,
                  place.bytes, options.inter.alpha_ns, chosen.name.data(), took_ns / least.ns, least.name.data());
  }
  std::printf("%s: %d of %d within a tenth of the best\n", name_of(collective).data(), good, cells);
  return good;
}

TEST(Choices, AreWithinATenthOfTheBest) {
  constexpr int kCells = 40;
  int all_good = 0;
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast,
                                      Collective::allgather, Collective::reduce_scatter_block}) {
    const int good = count_good(collective, kCells, /*in_memory=*/false);
    all_good += good;
    EXPECT_GE(good, kCells * 3 / 4) << name_of(collective);
  }
  EXPECT_GE(all_good, 5 * kCells * 85 / 100);
}

TEST(Choices, OfNodesThatHaveMemoryAreWithinATenthOfTheBest) {
  constexpr int kCells = 16;
  int all_good = 0;
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast,
                                      Collective::allgather, Collective::reduce_scatter_block}) {
    all_good += count_good(collective, kCells, /*in_memory=*/true);
  }
  EXPECT_GE(all_good, 5 * kCells * 3 / 4);
}

}  // namespace
}  // namespace stretto::conformance
