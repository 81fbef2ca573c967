#include "steps.hpp"

#include <mpi.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "generator.hpp"

namespace stretto::asp {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void sleep_ms(double duration_ms) {
  if (duration_ms > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(duration_ms));
}

std::vector<double> reduce(const std::vector<double>& mine, MPI_Op op) {
  std::vector<double> all(mine.size());
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
  return all;
}

// Times of one rank's own clock only: clocks of different nodes need not agree.
Times summarise(const std::vector<double>& broadcast_s, double total_s, int ranks) {
  Times times;
  times.total_s = reduce({total_s}, MPI_MAX).front();
  times.mean_s = reduce(broadcast_s, MPI_SUM);
  times.least_s = reduce(broadcast_s, MPI_MIN);
  times.most_s = reduce(broadcast_s, MPI_MAX);
  for (double& mean_s : times.mean_s) mean_s /= ranks;
  times.communication_s = std::accumulate(times.mean_s.begin(), times.mean_s.end(), 0.0);
  return times;
}

}  // namespace

Times run_steps(const Options& options, const Exchange& exchange, const Blocks& blocks, int vertices, int steps,
                Distances& distances) {
  std::vector<Weight> received(static_cast<std::size_t>(vertices));
  std::vector<double> broadcast_s(static_cast<std::size_t>(steps));
  MPI_Barrier(MPI_COMM_WORLD);
  const Clock::time_point start = Clock::now();
  for (int step = 0; step < steps; ++step) {
    sleep_ms(jitter_ms(options.seed, step, exchange.rank(), options.jitter_ms));
    const int owner = blocks.owner(step);
    const std::span<Weight> row = owner == exchange.rank() ? distances.row(step) : std::span(received);
    const Clock::time_point arrival = Clock::now();
    MPI_Bcast(row.data(), vertices, MPI_FLOAT, owner, MPI_COMM_WORLD);
    broadcast_s[static_cast<std::size_t>(step)] = seconds_since(arrival);
    distances.relax(step, row);
  }
  return summarise(broadcast_s, seconds_since(start), exchange.ranks());
}

}  // namespace stretto::asp
