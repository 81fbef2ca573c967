// Noise: every so often the rank leaves what it does, computes for a while, and comes back (Luo 2018).
#pragma once

#include <signal.h>
#include <time.h>

#include "arrival_pattern.hpp"
#include "probes.hpp"

namespace stretto::bench {

// While it lives the calling thread makes the pattern's detours, if it has any; each rank begins them at a moment of
// its own. One at a time.
class Noise {
 public:
  Noise(const ArrivalPattern& pattern, const ComputeLoad& load, std::uint64_t seed, int rank);
  ~Noise();
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;

 private:
  bool active_;
  timer_t timer_{};
  struct sigaction before_ {};
};

}  // namespace stretto::bench
