// The steps of the algorithm, and the time that they take.
#pragma once

#include <vector>

#include "blocks.hpp"
#include "distances.hpp"
#include "exchange.hpp"
#include "options.hpp"

namespace stretto::asp {

// Over all ranks, in seconds; on the master.
struct Times {
  double communication_s = 0;  // in all broadcasts, mean over the ranks
  double total_s = 0;          // of the steps, on the rank that took longest
  // In the broadcast of each step: over the ranks.
  std::vector<double> mean_s, least_s, most_s;
};

// In step k the owner of row k broadcasts it, and every rank sees which of its paths are shorter over vertex k.
Times run_steps(const Options& options, const Exchange& exchange, const Blocks& blocks, int vertices, int steps,
                Distances& distances);

}  // namespace stretto::asp
