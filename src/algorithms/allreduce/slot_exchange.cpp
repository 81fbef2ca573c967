// Slot exchange: everybody leaves its data in its slot on the board and reads everybody else's.
//
// The flat shared-memory exchange of XHC and friends: one line carries payload and sequence number.
// Cost after the last arrival: one line transfer, and P nγ on every rank. Nobody waits for a leader to be scheduled,
// which makes it the fastest for a few bytes and few ranks, and the last to arrive waits for nothing at all. P^2 n
// bytes are read, so it is not for more. Combines in the order of ranks: serves every operation, deterministic.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {
namespace {
using Exchange = slots::Exchange<slots::leave_input, slots::combine_input>;
}

Task slot_exchange(Group& g, Call call) { return Exchange::run(g, call, true); }
bool slot_exchange_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, true); }

using namespace letters;

extern constinit const Description slot_exchange_described{
    .collective = Collective::allreduce,
    .name = "slot_exchange",
    .run = &slot_exchange,
    .shortly = {&slot_exchange_shortly, &Exchange::rest},
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .summary = "everybody reads everybody's slot in shared memory",
    .source = "Stretto",
    .cost = both(P * n * gamma),
};

}  // namespace stretto::allreduce
