// How long a core takes for what it does in memory, and two cores for what they tell each other there.
#pragma once

#include <cstdint>

#include "mpi/places/message_times.hpp"
#include "select/machine.hpp"

namespace stretto::mpi {

/// Of this rank; `cores` is left to the caller, who knows how many ranks do the same now.
MemoryTimes measure_memory(const Care& care);

/// Handing a cache line from one core to another, and waking a thread that sleeps on another; in ns, 0 where there
/// is one core only, or no second thread.
struct HandOver {
  std::int64_t line_ns = 0;
  std::int64_t wake_ns = 0;
};
HandOver measure_hand_over();

}  // namespace stretto::mpi
