// What a core does in memory takes what the simulation has been told, however many do it at once.
#include "mpi/places/memory_times.hpp"

#include "simulated_platform.hpp"

namespace stretto::mpi {

MemoryTimes measure_memory(const Care&) {
  MemoryTimes work;
  for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
    const auto bytes = static_cast<double>(Curve::kLengths[i]);
    work.copy.ns[i] = static_cast<std::int64_t>(bytes * smpi::cost_of(Work::copy));
    work.reduce.ns[i] = static_cast<std::int64_t>(bytes * smpi::cost_of(Work::reduce));
  }
  return work;
}

HandOver measure_hand_over() { return {}; }

}  // namespace stretto::mpi
