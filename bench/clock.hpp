// One clock for all ranks, so that their times may be compared: CLOCK_MONOTONIC, which all processes of a node share;
// on other nodes less what World has found them to be ahead of rank 0's.
#pragma once

#include <time.h>

#include <cstdint>

namespace stretto::bench {

inline std::int64_t clock_ahead_ns = 0;

inline std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec - clock_ahead_ns;
}

inline void sleep_until_ns(std::int64_t when_ns) {
  when_ns += clock_ahead_ns;
  const timespec time{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace stretto::bench
