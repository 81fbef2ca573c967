// One clock for all ranks, so that their times may be compared: CLOCK_MONOTONIC, which all processes of a node share;
// on other nodes less what World has found them to be ahead of rank 0's.
//
// The functions have two definitions: clock.cpp for real machines, and sim/simgrid/clock.cpp for simulated ones.
#pragma once

#include <mpi.h>
#include <time.h>

#include <cstdint>

namespace stretto::bench {

inline std::int64_t clock_ahead_ns = 0;

inline std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec - clock_ahead_ns;
}

void sleep_until_ns(std::int64_t when_ns);

// Whether times of all ranks of `comm` may be compared.
bool is_clock_common(MPI_Comm comm);

// Whether a sleeper wakes at its moment, with all that it knew still at hand: then nothing tells ranks more evenly when
// to start.
bool is_sleep_exact();

}  // namespace stretto::bench
