// Slot gather: everybody leaves its data in its slot on the board and goes; the root reads all slots.
//
// Cost: a copy of n on every rank; in the root P nγ, of which all but the part of the late ranks is done while it
// waits. For small messages. Combines in the order of ranks: serves every operation, deterministic.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/slots.hpp"

namespace stretto::reduce {

Task slot_gather(Group& g, Call call) { return combine_slots(g, call, g.rank() == call.root); }

}  // namespace stretto::reduce
