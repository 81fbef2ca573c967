// Ring: partial sums travel once around the ring, block by block, then the finished blocks do.
//
// Patarasuk, Yuan 2009; Alizadeh 2021, Figure 2.3.
// Cost: 2(P-1) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival.
// For large messages on few ranks, with neighbours close to each other. Commutative operations only: block b starts
// its sum at rank b, or at position b where it goes around in another order (see prereduced_ring).

#include "algorithms/parts/ring.hpp"

#include "algorithms/parts/line.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task ring(Group& g, Call call) {
  const Line around(g, call);
  const RingPlace place{around.position(), around.predecessor(), around.successor()};
  const int finished = (place.position + 1) % g.size();
  const Block mine = even_block_on_ring(call, g.size(), finished);
  co_await reduce_around(g, call, place, &even_block_on_ring, place.position, call.output + offset(call, mine));
  co_await gather_around(g, call, place, &even_block_on_ring, finished);
}

using namespace letters;

extern constinit const Description ring_described{
    .collective = Collective::allreduce,
    .name = "ring",
    .run = &ring,
    .needs = {.commutative = true},
    .map = "ring",
    .summary = "partial sums once around a ring, then the results",
    .source = "Patarasuk, Yuan 2009",
    .cost = both(2 * around(n / P) + (P - 1) * n * gamma / P + n * kappa / P),
};

}  // namespace stretto::allreduce
