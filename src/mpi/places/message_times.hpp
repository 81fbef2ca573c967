// How long messages between two ranks take.
#pragma once

#include <cstdint>

#include "select/machine.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How much is spent on one time at one length; and on a link, or on what a core does in memory: then what is longer is
/// taken to go on as the curve so far. Not all lengths: those of messages lie on a line through two of them.
struct Care {
  std::int64_t point_ns;
  std::int64_t curves_ns;
  bool all_lengths;
  int short_trips;               // in a row, of messages below 32 KiB
  int middle_trips;              // of that length
  std::size_t eager_sixteenths;  // to which the longest message is found that leaves early; 0: it is not
};
inline constexpr Care kThorough{100'000'000, 5'000'000'000, true, 20, 20, 1};
inline constexpr Care kBriefOfMessages{1'000'000, 0, false, 6, 2, 4};
inline constexpr Care kBriefWithinNode{1'000'000, 0, false, 6, 2, 0};
inline constexpr Care kBriefOfMemory{100'000, 2'000'000, true, 0, 0, 0};

/// One rank of a pair measures; the other one answers meanwhile. Both own core and network as far as the machine lets.
Link measure_link(const Channel& channel, int peer, const Care& care);
void answer_link(const Channel& channel, int peer);

}  // namespace stretto::mpi
