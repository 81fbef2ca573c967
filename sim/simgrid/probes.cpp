// Simulated cores: each rank has its own, and work takes the time it is meant to take.
#include "probes.hpp"

#include "clock.hpp"

namespace stretto::bench {

ComputeLoad::ComputeLoad(World&) {}

void ComputeLoad::run(std::int64_t duration_ns) const { sleep_until_ns(now_ns() + duration_ns); }

std::int64_t measure_copy_bound_ns(World&, std::size_t, int) { return 0; }

double measure_copy_bandwidth(World&) { return 0; }

}  // namespace stretto::bench
