// Slot gather: everybody leaves its data in its slot on the board and goes; the root reads all slots.
//
// Cost: a copy of n on every rank; in the root P nγ, of which all but the part of the late ranks is done while it
// waits. For small messages. Combines in the order of ranks: serves every operation, deterministic.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
namespace {
using Exchange = slots::Exchange<slots::leave_input, slots::combine_input>;
}

Task slot_gather(Group& g, Call call) { return Exchange::run(g, call, g.rank() == call.root); }
bool slot_gather_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, g.rank() == call.root); }

using namespace letters;

extern constinit const Description slot_gather_described{
    .collective = Collective::reduce,
    .name = "slot_gather",
    .run = &slot_gather,
    .shortly = {&slot_gather_shortly, &Exchange::rest},
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .summary = "everybody leaves its data in its slot, the root reads all",
    .source = "Stretto",
    .cost = {.balanced = n * kappa + P * n * gamma + P * lambda,
             .after_last = n * gamma + lambda,
             .mean = n * kappa + n * gamma + lambda,
             .waiting = 1 / P},
};

}  // namespace stretto::reduce
