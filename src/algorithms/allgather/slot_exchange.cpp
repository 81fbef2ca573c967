// Slot exchange: everybody leaves its block in its slot on the board and reads everybody else's.
//
// The allreduce of that name, with blocks side by side: one line carries a short block and its sequence number. Cost
// after the last arrival: one line transfer, and P n copied by every rank. In the order of ranks, with nothing that two
// ranks write, it is quicker than taking blocks as they come where these are short.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {
namespace {
using Exchange = slots::Exchange<slots::leave_input, slots::collect_input>;
}

Task slot_exchange(Group& g, Call call) { return Exchange::run(g, call, true); }
bool slot_exchange_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, true); }

using namespace letters;

extern constinit const Description slot_exchange_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "slot_exchange",
    .run = &slot_exchange,
    .shortly = {&slot_exchange_shortly, &Exchange::rest},
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .summary = "everybody reads everybody's slot in shared memory",
    .source = "Stretto",
    .cost = both(N * kappa),
};

}  // namespace stretto::allgather
