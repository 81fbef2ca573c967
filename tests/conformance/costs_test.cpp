// The formulas of costs against the algorithms themselves on virtual ranks: how many cells of a seeded sample they are
// within a quarter of. A cell is a number of ranks, of ranks a node, a length, and a way to arrive; its time is from
// the last arrival to the last exit, in the mean over who is last.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "catalogue/terms.hpp"
#include "conformance/modelled.hpp"
#include "core/hash.hpp"

namespace stretto::conformance {
namespace {

enum class Arrival { together, at_random, one_late, node_late };
constexpr Arrival kArrivals[] = {Arrival::together, Arrival::at_random, Arrival::one_late, Arrival::node_late};

struct Cell : Place {
  Arrival arrival;
};

// Those that are late come `late_ns` after the first ranks: number `draw` of several, spread over all ranks by the
// golden ratio.
Times arrivals_of(const Cell& cell, int draw, std::int64_t late_ns) {
  Times arrivals(static_cast<std::size_t>(cell.ranks));
  const auto last = static_cast<std::size_t>(std::fmod(0.5 + 0.618033988749895 * draw, 1.0) * cell.ranks);
  if (cell.arrival == Arrival::at_random) {
    std::mt19937_64 random(static_cast<std::uint64_t>(draw) + 1);
    for (std::int64_t& arrival : arrivals)
      arrival = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(late_ns));
  }
  if (cell.arrival == Arrival::node_late) {
    const auto node = static_cast<std::size_t>(cell.ranks_per_node);
    for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
      if (rank / node == last / node) arrivals[rank] = late_ns;
    }
  } else if (cell.arrival != Arrival::together) {
    arrivals[last] = late_ns;
  }
  return arrivals;
}

Terms terms_of(const Algorithm& algorithm, const Cell& cell) {
  const sim::Options machine = make_machine();
  const bool one_node = cell.ranks <= cell.ranks_per_node;
  const sim::Link& farthest = one_node ? machine.intra : machine.inter;
  Terms terms;
  terms.ranks = cell.ranks;
  terms.ranks_per_node = cell.ranks_per_node;
  terms.alpha_ns = farthest.alpha_ns;
  terms.beta_ns = farthest.beta_ns_per_byte;
  terms.near_alpha_ns = machine.intra.alpha_ns;
  terms.near_beta_ns = machine.intra.beta_ns_per_byte;
  terms.gamma_ns = machine.gamma_ns_per_byte;
  terms.copy_ns = machine.delta_ns_per_byte;
  terms.eager_bytes = static_cast<double>(machine.eager_bytes);
  terms.last = cell.arrival == Arrival::node_late ? cell.ranks_per_node : 1;
  const Costs plan{static_cast<std::int64_t>(farthest.alpha_ns),
                   static_cast<std::int64_t>(1000 * farthest.beta_ns_per_byte)};
  return CallTerms(terms, plan).of(algorithm, cell.bytes);
}

double predicted_ns(const Algorithm& algorithm, const Cell& cell) {
  const Formula& formula = cell.arrival == Arrival::together ? *algorithm.balanced : *algorithm.after_last;
  return formula.value(terms_of(algorithm, cell));
}

double ratio_to_model(const Algorithm& algorithm, const Cell& cell, bool of_tree) {
  // In a tree a few ranks have most of the others below them.
  const int draws = of_tree && cell.arrival == Arrival::one_late ? cell.ranks : 8;
  constexpr std::int64_t kFarApart = 20;  // in terms of the time of ranks that come together
  const std::int64_t together_ns = lag_ns(algorithm, cell, Times(static_cast<std::size_t>(cell.ranks)));
  double time_ns = static_cast<double>(together_ns);
  if (cell.arrival != Arrival::together) {
    std::int64_t sum_ns = 0;
    for (int draw = 0; draw < draws; ++draw) {
      sum_ns += lag_ns(algorithm, cell, arrivals_of(cell, draw, kFarApart * together_ns));
    }
    time_ns = static_cast<double>(sum_ns) / draws;
  }
  return predicted_ns(algorithm, cell) / std::max(time_ns, 1.0);
}

double mean_to_model(const Algorithm& algorithm, const Cell& cell) {
  const Taken taken = take(algorithm, cell, Times(static_cast<std::size_t>(cell.ranks)));
  return algorithm.mean->value(terms_of(algorithm, cell)) / std::max(taken.mean_ns, 1.0);
}

// Whether it is within a quarter; prints the cell where not.
bool is_close(double ratio, const Cell& cell) {
  const bool close = ratio > 1 / 1.25 && ratio < 1.25;
  if (!close) {
    std::printf("  %d ranks, %d a node, %zu bytes, arrival %d: %.2f of the model\n", cell.ranks, cell.ranks_per_node,
                cell.bytes, static_cast<int>(cell.arrival), ratio);
  }
  return close;
}

template <std::size_t size, class T>
const T& draw_from(const T (&values)[size], std::mt19937_64& random) {
  return values[random() % size];
}

// Of a tree, what is left where many ranks come shortly before the last one is not known, nor where a whole node is
// late.
enum class Ways { all, together_and_one_late, together };

struct Held {
  Collective collective;
  const char* name;
  Ways ways = Ways::all;
};
// Those whose formulas have all that the model has; the others have leading terms.
constexpr Held kHeld[] = {{Collective::allreduce, "rabenseifner"},
                          {Collective::allreduce, "recursive_doubling"},
                          {Collective::allreduce, "reduce_bcast"},
                          {Collective::allreduce, "ring"},
                          {Collective::reduce, "binomial"},
                          {Collective::reduce, "reduce_scatter_gather"},
                          {Collective::bcast, "scatter_allgather"},
                          {Collective::barrier, "dissemination"},
                          {Collective::allgather, "bruck"},
                          {Collective::allgather, "recursive_doubling"},
                          {Collective::allgather, "ring"},
                          {Collective::alltoall, "pairwise"},
                          {Collective::reduce_scatter_block, "pairwise"},
                          {Collective::reduce_scatter_block, "recursive_halving"},
                          {Collective::reduce_scatter_block, "ring"},
                          {Collective::scatter, "binomial", Ways::together},
                          {Collective::scatter, "linear_nonblocking", Ways::together},
                          {Collective::gather, "binomial", Ways::together},
                          {Collective::gather, "linear_nonblocking", Ways::together},
                          {Collective::bcast, "binomial", Ways::together_and_one_late},
                          {Collective::bcast, "event_chain", Ways::together_and_one_late},
                          {Collective::bcast, "event_binary", Ways::together_and_one_late},
                          {Collective::bcast, "event_binomial", Ways::together_and_one_late},
                          {Collective::bcast, "event_linear", Ways::together_and_one_late},
                          {Collective::bcast, "event_topology", Ways::together_and_one_late},
                          {Collective::reduce, "event_chain", Ways::together_and_one_late},
                          {Collective::reduce, "event_binary", Ways::together_and_one_late},
                          {Collective::reduce, "event_binomial", Ways::together_and_one_late},
                          {Collective::reduce, "event_knomial", Ways::together_and_one_late},
                          {Collective::reduce, "event_linear", Ways::together_and_one_late},
                          {Collective::reduce, "event_topology", Ways::together_and_one_late}};

// The same of an algorithm whatever others there are.
std::mt19937_64 sample_of(const Held& held) {
  Hash seed;
  seed.add(name_of(held.collective));
  seed.add(std::string_view(held.name));
  return std::mt19937_64(seed.value());
}

// What the sample's ranks do in memory takes as long as it takes: where all have a block, the bytes are bounded.
Cell draw_cell(const Held& held, std::span<const int> numbers, std::mt19937_64& random) {
  constexpr std::size_t kLengths[] = {8, 64, 512, 4096, 32768, 262144, 2097152};
  constexpr int kRanksPerNode[] = {1, 4, 64};
  constexpr double kMostBytes = 1e8;
  for (;;) {
    const Cell cell{{numbers[random() % numbers.size()], draw_from(kRanksPerNode, random), draw_from(kLengths, random)},
                    draw_from(kArrivals, random)};
    const bool is_known = cell.arrival == Arrival::together ||
                          (held.ways != Ways::together && cell.arrival == Arrival::one_late) || held.ways == Ways::all;
    if (!is_known) continue;
    const bool has_nodes = cell.ranks_per_node > 1 && cell.ranks_per_node < cell.ranks;
    if (cell.arrival == Arrival::node_late && !has_nodes) continue;
    const double blocks = has_blocks(held.collective) ? static_cast<double>(cell.ranks) : 1;
    if (static_cast<double>(cell.bytes) * cell.ranks * blocks <= kMostBytes) return cell;
  }
}

// Prints which cells are not close, and returns the share of those that are.
double share_of_close(std::span<const int> numbers, int cells) {
  int all_close = 0;
  for (const Held& held : kHeld) {
    const Algorithm& algorithm = *find_algorithm(held.collective, held.name);
    std::mt19937_64 random = sample_of(held);
    int close = 0;
    const bool of_tree = held.ways == Ways::together_and_one_late;
    for (int i = 0; i < cells; ++i) {
      const Cell cell = draw_cell(held, numbers, random);
      close += is_close(ratio_to_model(algorithm, cell, of_tree), cell) ? 1 : 0;
    }
    std::printf("%s %s: %d of %d within a quarter\n", name_of(held.collective).data(), held.name, close, cells);
    EXPECT_GE(close, cells * 8 / 10) << name_of(held.collective) << " " << held.name;
    all_close += close;
  }
  return static_cast<double>(all_close) / (cells * static_cast<double>(std::size(kHeld)));
}

// What ranks that come together spend in a call in the mean, where some leave early.
TEST(Costs, OfTheMeanRankAreWithinAQuarterOfTheModel) {
  constexpr int kNumbers[] = {2, 3, 4, 6, 8, 13, 16, 32, 64, 100, 128};
  constexpr int kCells = 60;
  int all_close = 0;
  int rooted = 0;
  for (const Held& held : kHeld) {
    const Algorithm& algorithm = *find_algorithm(held.collective, held.name);
    if (algorithm.mean == algorithm.balanced) continue;
    std::mt19937_64 random = sample_of(held);
    int close = 0;
    for (int i = 0; i < kCells; ++i) {
      const Cell cell = draw_cell(held, kNumbers, random);
      close += is_close(mean_to_model(algorithm, cell), cell) ? 1 : 0;
    }
    std::printf("%s %s: mean time in %d of %d within a quarter\n", name_of(held.collective).data(), held.name, close,
                kCells);
    EXPECT_GE(close, kCells * 7 / 10) << name_of(held.collective) << " " << held.name;
    all_close += close;
    ++rooted;
  }
  EXPECT_GE(all_close, rooted * kCells * 85 / 100);
}

TEST(Costs, AreWithinAQuarterOfTheModel) {
  constexpr int kNumbers[] = {2, 3, 4, 6, 8, 13, 16, 32, 64, 100, 128};
  EXPECT_GE(share_of_close(kNumbers, 60), 0.95);
}

TEST(Costs, AreSoForManyRanks) {
  constexpr int kNumbers[] = {192, 200, 256};
  EXPECT_GE(share_of_close(kNumbers, 15), 0.95);
}

}  // namespace
}  // namespace stretto::conformance
