// Slot exchange: everybody leaves its input in its slot on the board and combines its own block of everybody else's.
//
// The alltoall of that name, with a sum. Cost: P copies of n bytes, then P nγ on every rank. Inputs longer than a slot
// go through the pool. Combines in the order of ranks: serves every operation, deterministic.

#include "board/board.hpp"
#include "board/slots.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce_scatter {
namespace {
using Exchange = slots::Exchange<slots::leave_blocks, slots::combine_block>;
}

Task slot_exchange(Group& g, Call call) { return Exchange::run(g, call, true); }
bool slot_exchange_shortly(Group& g, const Call& call) { return Exchange::shortly(g, call, true); }

using namespace letters;

extern constinit const Description slot_exchange_described{
    .collective = Collective::reduce_scatter_block,
    .with_lengths = Collective::reduce_scatter,
    .name = "slot_exchange",
    .run = &slot_exchange,
    .shortly = {&slot_exchange_shortly, &Exchange::rest},
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .summary = "everybody combines its own of everybody's slot in shared memory",
    .source = "Stretto",
    .cost = both(N * kappa + N * gamma),
};

}  // namespace stretto::reduce_scatter
