// Arrival-ordered: a rank that comes tells all others, and each sends its block first to those it has heard of.
//
// Qian, Afsahi 2011: direct exchange that follows the arrivals, where the order of ranks would have early ranks wait
// for late ones. Notices are messages here, where the paper writes them into the others' memory; and a rank serves two
// at a time. Acts on what has happened, without knowing anything ahead. Cost: 2α + (P-1) nβ, n bytes a block, most
// notices being hidden. After the last arrival the same, which are the blocks that go in and out of the last rank:
// early ranks have exchanged theirs, and nothing was sent to where nobody was. For blocks long enough that P-1 notices
// a rank do not matter.

#include "algorithms/parts/direct_exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task arrival_ordered(Group& g, Call call) {
  const OwnBlockForAll own(g, call);
  co_await exchange_as_announced(g, own.call());
}

using namespace letters;

extern constinit const Description arrival_ordered_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "arrival_ordered",
    .run = &arrival_ordered,
    .summary = "everybody sends first to those who have announced themselves",
    .source = "Qian, Afsahi 2011",
    .cost = both(2 * alpha + N * beta),
};

}  // namespace stretto::allgather
