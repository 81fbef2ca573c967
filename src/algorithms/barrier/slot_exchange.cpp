// Slot exchange: everybody raises its flag on the board and looks at everybody else's.
//
// The allreduce of that name, without data. Cost: one line transfer from each rank to each other; no line has two
// writers, so for few ranks it is faster than counting.

#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::barrier {
namespace {
using Exchange = slots::Exchange<slots::leave_input, slots::combine_input>;
}

Task slot_exchange(Group& g, Call call) { return Exchange::run(g, call, true); }
bool slot_exchange_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, true); }

using namespace letters;

extern constinit const Description slot_exchange_described{
    .collective = Collective::barrier,
    .name = "slot_exchange",
    .run = &slot_exchange,
    .shortly = {&slot_exchange_shortly, &Exchange::rest},
    .needs = {.memory = Memory::board},
    .summary = "everybody looks at everybody's flag in shared memory",
    .source = "Stretto",
    .cost = {.balanced = P * lambda, .after_last = lambda},
};

}  // namespace stretto::barrier
