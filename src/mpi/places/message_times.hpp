// How long messages between two ranks take.
#pragma once

#include <cstdint>

#include "select/machine.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How much is spent on one time at one length; and on a link, or on what a core does in memory: then what is longer is
/// taken to go on as the curve so far.
inline constexpr std::int64_t kPointNs = 100'000'000;
inline constexpr std::int64_t kCurvesNs = 5'000'000'000;

/// One rank of a pair measures; the other one answers meanwhile. Both own core and network as far as the machine lets.
Link measure_link(const Channel& channel, int peer);
void answer_link(const Channel& channel, int peer);

}  // namespace stretto::mpi
