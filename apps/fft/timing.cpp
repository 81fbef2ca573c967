#include "timing.hpp"

#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>

namespace stretto::fft {
namespace {

using ClockName = std::array<char, 128>;

// Empty where this kernel does not tell.
ClockName name_clock() {
  ClockName name{};
  std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file == nullptr) return name;
  const bool known = std::fgets(name.data(), static_cast<int>(name.size() / 2), file) != nullptr;
  std::fclose(file);
  if (!known) return {};
  // Absent before Linux 5.6, which had one clock for all.
  const std::size_t used = std::strlen(name.data());
  [[maybe_unused]] const ssize_t length = readlink("/proc/self/ns/time", name.data() + used, name.size() - used - 1);
  return name;
}

double as_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_clock_common() {
  const ClockName mine = name_clock();
  ClockName masters = mine;
  MPI_Bcast(masters.data(), static_cast<int>(masters.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = mine == masters && masters[0] != '\0' ? 1 : 0, all_same = 0;
  MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_same != 0;
}

std::vector<Passage> collect(const std::vector<Passage>& mine, int ranks, int rank) {
  static_assert(sizeof(Passage) == 4 * sizeof(std::int64_t));
  std::vector<Passage> all(rank == 0 ? mine.size() * static_cast<std::size_t>(ranks) : 0);
  const int count = static_cast<int>(4 * mine.size());
  MPI_Gather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return all;
}

std::vector<IterationTimes> summarise(const std::vector<Passage>& all, int ranks) {
  const std::size_t iterations = all.size() / static_cast<std::size_t>(ranks);
  std::vector<IterationTimes> times;
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    std::int64_t first_arrival_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_arrival_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_exit_ns = last_arrival_ns, elapsed_ns = 0, compute_ns = 0;
    for (std::size_t i = iteration; i < all.size(); i += iterations) {
      first_arrival_ns = std::min(first_arrival_ns, all[i].arrival_ns);
      last_arrival_ns = std::max(last_arrival_ns, all[i].arrival_ns);
      last_exit_ns = std::max(last_exit_ns, all[i].exit_ns);
      elapsed_ns += all[i].exit_ns - all[i].arrival_ns;
      compute_ns += all[i].compute_ns;
    }
    const Passage& masters = all[iteration];
    times.push_back({.whole_s = as_seconds(masters.whole_ns),
                     .run_time_s = as_seconds(last_exit_ns - first_arrival_ns),
                     .elapsed_time_s = as_seconds(elapsed_ns) / ranks,
                     .imbalance_s = as_seconds(last_arrival_ns - first_arrival_ns),
                     .master_compute_s = as_seconds(masters.compute_ns),
                     .mean_compute_s = as_seconds(compute_ns) / ranks});
  }
  return times;
}

}  // namespace stretto::fft
