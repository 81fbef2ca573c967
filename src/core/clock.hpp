// The machine's clock, which all ranks of a node share.
#pragma once

#include <time.h>

#include <cstdint>

namespace stretto {

/// CLOCK_MONOTONIC in ns.
inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace stretto
