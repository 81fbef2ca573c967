#include "generator.hpp"

#include <cmath>

#include "bench/driver/random.hpp"

namespace stretto::asp {
namespace {

enum Stream : std::uint64_t { kFrom, kTo, kWeight, kJitter };  // those of later steps follow

constexpr std::uint64_t kMostGeneratedWeight = 100;

std::uint64_t as_bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

}  // namespace

std::vector<Edge> generate_edges(const RandomGraph& random, int first, int end) {
  std::vector<Edge> edges;
  if (random.vertices < 2) return edges;
  const std::uint64_t seed = as_bits(random.seed), vertices = as_bits(random.vertices);
  const auto draws = static_cast<std::uint64_t>(std::llround(random.vertices * random.degree));
  for (std::uint64_t i = 0; i < draws; ++i) {
    const std::uint64_t from = bench::random_bits(seed, kFrom, i) % vertices;
    if (from < as_bits(first) || from >= as_bits(end)) continue;
    const std::uint64_t distance = 1 + bench::random_bits(seed, kTo, i) % (vertices - 1);  // never to itself
    const std::uint64_t weight = 1 + bench::random_bits(seed, kWeight, i) % kMostGeneratedWeight;
    edges.push_back({.from = static_cast<std::int32_t>(from),
                     .to = static_cast<std::int32_t>((from + distance) % vertices),
                     .weight = static_cast<Weight>(weight)});
  }
  keep_lightest(edges);
  return edges;
}

double jitter_ms(std::int64_t seed, int step, int rank, double limit_ms) {
  return limit_ms * bench::random_unit(as_bits(seed), kJitter + as_bits(step), as_bits(rank));
}

}  // namespace stretto::asp
