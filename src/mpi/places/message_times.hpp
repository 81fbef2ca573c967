// How long messages between two ranks take.
#pragma once

#include <cstdint>

#include "select/machine.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How much may be spent on a measurement. Times lie in a file for long, or serve one job.
struct Effort {
  std::int64_t point_ns;  // on one time at one length
  std::int64_t link_ns;   // on all of a link, or of a core's work; then longer messages are as the curve has it so far
};
inline constexpr Effort kThorough{100'000'000, 5'000'000'000};
inline constexpr Effort kQuick{400'000, 6'000'000};

/// One rank of a pair measures; the other one answers meanwhile. Both own core and network as far as the machine lets.
Link measure_link(const Channel& channel, int peer, const Effort& effort);
void answer_link(const Channel& channel, int peer);

}  // namespace stretto::mpi
