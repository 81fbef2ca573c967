// Runs of one algorithm on virtual ranks, in rows of calls of many shapes, each checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "conformance/checks.hpp"
#include "transport/sim/world.hpp"

namespace stretto::conformance {

/// Seeds to run something with: `wanted` of them, or as many as time allows; from `first` on, so that one seed a number
/// of ranks still has all kinds of options_for.
inline std::vector<std::uint64_t> seeds(std::uint64_t wanted, int first = 0) {
  std::vector<std::uint64_t> numbers(std::min(wanted, most_seeds()));
  std::iota(numbers.begin(), numbers.end(), static_cast<std::uint64_t>(first));
  return numbers;
}

/// Numbers of ranks to run something with; the large ones where there is time for several seeds.
inline std::vector<int> ranks_of(std::vector<int> numbers) {
  if (is_brief()) std::erase_if(numbers, [](int ranks) { return ranks > 17; });
  return numbers;
}

inline std::string label(const Algorithm& algorithm, int ranks, std::uint64_t seed) {
  return std::string(name_of(algorithm.collective)) + "/" + std::string(algorithm.name) +
         " P=" + std::to_string(ranks) + " seed=" + std::to_string(seed);
}

inline sim::Options options_for(int ranks, std::uint64_t seed) {
  sim::Options options;
  options.ranks = ranks;
  options.seed = seed;
  options.jitter_ns = seed % 3 == 0 ? 0 : 3000;
  options.eager_bytes = seed % 2 == 0 ? 0 : 1024;  // every other seed: all messages wait for their receiver
  options.single_copy = seed % 4 < 2;
  options.pool_bytes = (seed % 2 == 0 ? 256 : 2048) * std::size_t{1024};  // the long messages: several windows, or one
  options.generations = seed % 3 == 1 ? Board::kGenerations : 3;
  return options;
}

/// A row of calls, back to back, with varying shapes.
inline Task several_calls(Group& g, const Algorithm& algorithm, std::vector<Shape> shapes, std::string name) {
  for (unsigned call = 0; call < shapes.size(); ++call) {
    co_await run_and_check(g, algorithm, shapes[call], call, name);
  }
}

inline void run(const Algorithm& algorithm, const sim::Options& options, const std::vector<Shape>& shapes) {
  sim::World world(options);
  const std::string name = label(algorithm, options.ranks, options.seed);
  SCOPED_TRACE(name);
  world.run([&](Group& g) { return several_calls(g, algorithm, shapes, name); });
}

inline std::vector<Shape> shapes_for(const Algorithm& algorithm, int ranks) {
  std::vector<Shape> shapes;
  int root = 0;
  for (std::size_t count : {std::size_t{1}, std::size_t{0}, std::size_t{2}, std::size_t{7},
                            static_cast<std::size_t>(ranks), std::size_t{13}, std::size_t{1000}}) {
    for (bool in_place : {false, true}) {
      shapes.push_back({count, root, in_place, false});
      if (!algorithm.needs.commutative) shapes.push_back({count, root, in_place, true});
      root = (root + 1) % ranks;
    }
  }
  return shapes;
}

inline std::string name_of_parameter(const testing::TestParamInfo<Algorithm>& test) {
  std::string name = std::string(name_of(test.param.collective)) + "_" + std::string(test.param.name);
  for (char sign : {'+', '@', '(', ')', ','}) std::replace(name.begin(), name.end(), sign, '_');
  return name;
}

/// The node of each rank: side by side, in turn, and anyhow. In each the nodes may have different numbers of ranks.
inline std::vector<std::vector<int>> placements(int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> placements(3);
  for (int rank = 0; rank < ranks; ++rank) {
    placements[0].push_back(rank / 3);
    placements[1].push_back(rank % 3);
    placements[2].push_back(static_cast<int>(random() % 4));
  }
  return placements;
}

/// Under every placement of so many ranks, with all shapes and `more`.
inline void run_under_placements(const Algorithm& algorithm, int ranks, const std::vector<Shape>& more = {}) {
  std::vector<Shape> shapes = shapes_for(algorithm, ranks);
  shapes.insert(shapes.end(), more.begin(), more.end());
  for (const std::uint64_t seed : seeds(4, ranks)) {
    for (const std::vector<int>& nodes : placements(ranks, seed)) {
      sim::Options options = options_for(ranks, seed);
      options.nodes = nodes;
      options.shared_memory = algorithm.needs.memory != Memory::none;
      run(algorithm, options, shapes);
    }
  }
}

}  // namespace stretto::conformance
