// Slot gather: everybody leaves its block in its slot on the board and goes; the root reads all slots.
//
// The reduce of that name, with blocks side by side. Cost: a copy of n on every rank; in the root P n, of which all but
// the blocks of the late ranks is done while it waits. For short blocks, as the allgather by slots.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {
namespace {
using Exchange = slots::Exchange<slots::leave_input, slots::collect_input>;
}

Task slot_gather(Group& g, Call call) { return Exchange::run(g, call, g.rank() == call.root); }
bool slot_gather_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, g.rank() == call.root); }

using namespace letters;

extern constinit const Description slot_gather_described{
    .collective = Collective::gather,
    .name = "slot_gather",
    .run = &slot_gather,
    .shortly = {&slot_gather_shortly, &Exchange::rest},
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes},
    .summary = "everybody leaves its block in its slot, the root reads all",
    .source = "Stretto",
    .cost = {.balanced = N * kappa + P * lambda,
             .after_last = n * kappa + lambda,
             .mean = 2 * n * kappa + lambda,
             .waiting = 1 / P},
};

}  // namespace stretto::gather
