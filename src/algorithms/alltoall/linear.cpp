// Linear: every rank starts the messages to and from all others at once.
//
// What P-1 MPI_Isend and MPI_Irecv give, and so the yardstick of whatever follows the order of arrival.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap; after the last arrival the same, for that is what goes in
// and out of the last rank. Early ranks have exchanged theirs by then. All messages share the ports, those to ranks
// that are not there yet as well. In place it keeps a copy of the input.

#include "algorithms/parts/direct_exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::alltoall {

Task linear(Group& g, Call call) {
  const KeptInput kept(g, call);
  co_await exchange_at_once(g, kept.call());
}

using namespace letters;

extern constinit const Description linear_described{
    .collective = Collective::alltoall,
    .with_lengths = Collective::alltoallv,
    .name = "linear",
    .run = &linear,
    .summary = "everybody sends to everybody at once",
    .source = "Stretto",
    .cost = both(to_all(n) + n * kappa),
};

}  // namespace stretto::alltoall
