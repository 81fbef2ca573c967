// How long messages between two ranks take.
#pragma once

#include <cstdint>

#include "select/machine.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How much is spent on one time at one length; and on a link, or on what a core does in memory: then what is longer is
/// taken to go on as the curve so far.
struct Care {
  std::int64_t point_ns;
  std::int64_t curves_ns;
  int short_trips;               // in a row, of messages below 32 KiB
  int middle_trips;              // of that length
  std::size_t eager_sixteenths;  // to which the longest message is found that leaves early
};
inline constexpr Care kThorough{100'000'000, 5'000'000'000, 20, 20, 1};
inline constexpr Care kBrief{300'000, 15'000'000, 6, 2, 4};
inline constexpr Care kBriefest{200'000, 4'000'000, 6, 2, 4};

/// One rank of a pair measures; the other one answers meanwhile. Both own core and network as far as the machine lets.
Link measure_link(const Channel& channel, int peer, const Care& care);
void answer_link(const Channel& channel, int peer);

}  // namespace stretto::mpi
