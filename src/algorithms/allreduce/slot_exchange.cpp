// Slot exchange: everybody leaves its data in its slot on the board and reads everybody else's.
//
// The flat shared-memory exchange of XHC and friends: one line carries payload and sequence number.
// Cost after the last arrival: one line transfer, and P nγ on every rank. Nobody waits for a leader to be scheduled,
// which makes it the fastest for a few bytes and few ranks, and the last to arrive waits for nothing at all. P^2 n
// bytes are read, so it is not for more. Combines in the order of ranks: serves every operation, deterministic.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/slots.hpp"

namespace stretto::allreduce {

Task slot_exchange(Group& g, Call call) { return combine_slots(g, call, true); }

}  // namespace stretto::allreduce
