// Slot exchange: everybody leaves its blocks in its slot on the board and takes its own of everybody else's.
//
// The allgather of that name, with another block for each rank. Cost: P copies of n bytes, then P more. For short
// blocks; those of a rank that are together longer than a slot go through the pool.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::alltoall {
namespace {
using Exchange = slots::Exchange<slots::leave_blocks, slots::collect_block>;
}

Task slot_exchange(Group& g, Call call) { return Exchange::run(g, call, true); }
bool slot_exchange_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, true); }

using namespace letters;

extern constinit const Description slot_exchange_described{
    .collective = Collective::alltoall,
    .name = "slot_exchange",
    .run = &slot_exchange,
    .shortly = {&slot_exchange_shortly, &Exchange::rest},
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .summary = "everybody takes its own from everybody's slot in shared memory",
    .source = "Stretto",
    .cost = both(2 * N * kappa),
};

}  // namespace stretto::alltoall
