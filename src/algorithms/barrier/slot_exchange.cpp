// Slot exchange: everybody raises its flag on the board and looks at everybody else's.
//
// The allreduce of that name, without data. Cost: one line transfer from each rank to each other; no line has two
// writers, so for few ranks it is faster than counting.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/slots.hpp"

namespace stretto::barrier {

Task slot_exchange(Group& g, Call) { return combine_slots(g, Call{}, true); }

}  // namespace stretto::barrier
