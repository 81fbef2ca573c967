// Linear: every rank sends its block to all others at once.
//
// What P-1 MPI_Isend and MPI_Irecv give, and so the yardstick of whatever follows the order of arrival.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap; after the last arrival the same, for that is what goes in
// and out of the last rank. Early ranks have each other's blocks by then. All messages share the ports, those to ranks
// that are not there yet as well: with many ranks they get into each other's way.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/direct_exchange.hpp"

namespace stretto::allgather {

Task linear(Group& g, Call call) {
  const OwnBlockForAll own(g, call);
  co_await exchange_at_once(g, own.call());
}

}  // namespace stretto::allgather
