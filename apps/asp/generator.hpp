// What is random in a run, by position: the seed gives the same numbers whatever the number of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "graph.hpp"

namespace stretto::asp {

struct RandomGraph {
  std::int64_t seed;
  int vertices;
  double degree;  // edges drawn a vertex, on average; of those with the same ends one stays
};

// The edges that leave the vertices from `first` to before `end`. Weights are whole numbers from 1 to 100, so that all
// distances are exact.
std::vector<Edge> generate_edges(const RandomGraph& random, int first, int end);

// How long a rank sleeps before a step: uniform in [0, limit_ms).
double jitter_ms(std::int64_t seed, int step, int rank, double limit_ms);

}  // namespace stretto::asp
