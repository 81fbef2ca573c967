// Times: each rank keeps its own and hands them over after the last iteration, so that nothing disturbs the iterations.
#pragma once

#include <cstdint>
#include <vector>

namespace stretto::fft {

// CLOCK_MONOTONIC, which all processes of one machine share; emulated nodes are on one machine.
std::int64_t now_ns();

// Whether all ranks read one clock: they run under one boot of one kernel, in one time namespace. Only then can
// arrivals of different ranks be compared. Called by all ranks; all get the answer.
bool is_clock_common();

// One rank in one iteration.
struct Passage {
  std::int64_t arrival_ns;  // at the gather
  std::int64_t exit_ns;     // from it
  std::int64_t compute_ns;
  std::int64_t whole_ns;  // of the iteration, on this rank
};

// On the master what all ranks have kept, first all iterations of rank 0; empty elsewhere. Called by all ranks.
std::vector<Passage> collect(const std::vector<Passage>& mine, int ranks, int rank);

// One iteration over all ranks. In seconds, as the paper has it.
struct IterationTimes {
  double whole_s;           // on the master, from making the input to the result in order
  double run_time_s;        // of the gather: last exit - first arrival
  double elapsed_time_s;    // of the gather: mean over the ranks of exit - arrival
  double imbalance_s;       // last arrival - first arrival
  double master_compute_s;  // decimation, the master's own part and the final order; input and jitter included
  double mean_compute_s;    // over all ranks
};

std::vector<IterationTimes> summarise(const std::vector<Passage>& all, int ranks);

}  // namespace stretto::fft
