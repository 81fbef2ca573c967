// What is chosen by prediction against everything else on virtual ranks: how many cells of a seeded sample it is within
// a tenth of the best in. A cell is a number of ranks, of ranks a node, and a length; ranks come together.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "conformance/modelled.hpp"
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
  return machine;
}

double together_ns(const Algorithm& algorithm, const Place& place, const sim::Options& options) {
  return static_cast<double>(lag_ns(algorithm, place, Times(static_cast<std::size_t>(place.ranks)), options));
}

// All that can run anywhere, and what the choice may be beside.
double best_ns(Collective collective, const Place& place, const sim::Options& options) {
  double best = std::numeric_limits<double>::max();
  for (const Algorithm& algorithm : algorithms()) {
    const bool anywhere = algorithm.collective == collective && algorithm.run != nullptr &&
                          algorithm.needs.memory == Memory::none && !algorithm.needs.words &&
                          !algorithm.needs_prediction();
    if (anywhere) best = std::min(best, together_ns(algorithm, place, options));
  }
  return best;
}

template <std::size_t size, class T>
const T& draw_from(const T (&values)[size], std::mt19937_64& random) {
  return values[random() % size];
}

constexpr sim::Link kNetworks[] = {{2000, 0.1, 400}, {30000, 8, 5000}, {1000, 0.08, 300}, {20000, 80, 5000}};

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

TEST(Choices, AreWithinATenthOfTheBest) {
  constexpr int kCells = 40;
  int all_good = 0;
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast,
                                      Collective::allgather, Collective::reduce_scatter_block}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(collective) + 1);
    int good = 0;
    for (int cell = 0; cell < kCells; ++cell) {
      const Place place = draw_place(collective, random);
      const sim::Options options = machine_of_links(draw_from(kNetworks, random));
      const int nodes = (place.ranks + place.ranks_per_node - 1) / place.ranks_per_node;
      Forecast forecast(measured(options), {place.ranks, nodes}, {});
      const Algorithm* const best = forecast.best(collective, place.bytes, true);
      const Algorithm& chosen = best != nullptr ? *best : forecast.native_like(collective, place.bytes);
      const double took_ns = together_ns(chosen, place, options);
      const double least_ns = best_ns(collective, place, options);
      const bool is_good = took_ns <= 1.1 * least_ns;
      good += is_good ? 1 : 0;
      if (!is_good)
        std::printf("  %d ranks, %d a node, %zu bytes, %.0f ns: %s takes %.2f of the best\n", place.ranks,
                    place.ranks_per_node, place.bytes, options.inter.alpha_ns, chosen.name.data(), took_ns / least_ns);
    }
    all_good += good;
    EXPECT_GE(good, kCells * 3 / 4) << name_of(collective);
    std::printf("%s: %d of %d within a tenth of the best\n", name_of(collective).data(), good, kCells);
  }
  EXPECT_GE(all_good, 5 * kCells * 85 / 100);
}

}  // namespace
}  // namespace stretto::conformance
