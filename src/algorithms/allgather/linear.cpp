// Linear: every rank sends its block to all others at once.
//
// What P-1 MPI_Isend and MPI_Irecv give, and so the yardstick of whatever follows the order of arrival.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap; after the last arrival the same, for that is what goes in
// and out of the last rank. Early ranks have each other's blocks by then. All messages share the ports, those to ranks
// that are not there yet as well: with many ranks they get into each other's way.

#include "algorithms/parts/direct_exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task linear(Group& g, Call call) {
  const OwnBlockForAll own(g, call);
  co_await exchange_at_once(g, own.call());
}

using namespace letters;

extern constinit const Description linear_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "linear",
    .run = &linear,
    .summary = "everybody sends to everybody at once",
    .source = "Stretto",
    .cost = both(any(0) + one_by_one + n * kappa),
};

}  // namespace stretto::allgather
