// Signals do not come in simulated time.
#include "noise.hpp"

namespace stretto::bench {

Noise::Noise(const ArrivalPattern& pattern, const ComputeLoad&, std::uint64_t, int) : active_(false) {
  if (pattern.noise_hz() > 0) throw UsageError("arrival=noise: is not simulated");
}

Noise::~Noise() = default;

}  // namespace stretto::bench
