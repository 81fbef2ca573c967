// Letting simulated time pass: what smpicxx makes of nanosleep.
#pragma once

#include <time.h>

#include <cstdint>

namespace stretto::smpi {

inline void sleep_ns(std::int64_t duration_ns) {
  if (duration_ns <= 0) return;
  const timespec duration{duration_ns / 1'000'000'000, duration_ns % 1'000'000'000};
  nanosleep(&duration, nullptr);
}

}  // namespace stretto::smpi
