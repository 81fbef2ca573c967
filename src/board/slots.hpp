// Everybody leaves its data in its slot on the board, and whoever wants the result reads all slots.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Publishes this rank's data (one slot at most). With `combine`, waits for all ranks and combines their data in the
/// order of ranks into the output; without, returns at once. No data (count 0) is a barrier.
Task combine_slots(Group& g, Call call, bool combine);

}  // namespace stretto
