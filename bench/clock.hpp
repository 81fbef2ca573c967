// The node's one clock. CLOCK_MONOTONIC is the same for all processes of a node, so times of ranks may be compared.
#pragma once

#include <time.h>

#include <cstdint>

namespace stretto::bench {

inline std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline void sleep_until_ns(std::int64_t when_ns) {
  const timespec time{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace stretto::bench
