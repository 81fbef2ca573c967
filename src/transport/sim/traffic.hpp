// Who sends how much to whom in an algorithm: recorded from a run of it on virtual ranks, so that no pattern of any
// algorithm has to be written down a second time.
#pragma once

#include "core/algorithm.hpp"
#include "topology/maps.hpp"

namespace stretto::sim {

/// The traffic of one call of `count` elements of 8 bytes with rank 0 as root, added up over both directions, in the
/// order of the lower rank and then of the other. `algorithm` is one of messages alone. Memory and time are those of
/// its messages: of `ring` 2 P^2.
Traffic record_traffic(const Algorithm& algorithm, int ranks, std::size_t count);

}  // namespace stretto::sim
