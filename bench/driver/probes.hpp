// What the machine can do, measured at the sizes of the benchmark. All but measure_latency_ns have a second definition
// for simulated machines, in sim/simgrid/probes.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "world.hpp"

namespace stretto::bench {

// Work of a known length: a chain of dependent integer operations, which needs a core and no memory. How much of it
// makes a nanosecond is found once on an otherwise idle node, so that whoever loses its core really becomes later.
class ComputeLoad {
 public:
  explicit ComputeLoad(World& world);
  void run(std::int64_t duration_ns) const;
  double steps_per_ns() const { return steps_per_ns_; }

 private:
  double steps_per_ns_ = 1;
};

// One-way point-to-point time of a message between ranks 0 and 1 while all others sleep: the median of several trials.
std::int64_t measure_latency_ns(World& world, std::size_t bytes);

// The least time in which the node's cores together write `copies` private copies of `bytes`, with everything in cache
// that fits. Nothing that must hand out so many results can be faster. 0: not known.
std::int64_t measure_copy_bound_ns(World& world, std::size_t bytes, int copies);

// Bytes that all cores together copy through memory in a nanosecond, from and to more than the caches hold. 0: not
// known.
double measure_copy_bandwidth(World& world);

}  // namespace stretto::bench
