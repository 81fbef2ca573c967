// Ring: the partial sum of each block travels once around the ring, and ends at the rank whose block it is.
//
// The first half of Patarasuk, Yuan 2009; Castello 2021.
// Cost: (P-1)(α + nβ + nγ), n bytes a block, all of it after the last arrival: it stands in the way of every block.
// For long blocks, with neighbours close to each other. Commutative operations only: block b starts its sum at rank
// b + 1. Needs memory for two blocks only.

#include "algorithms/parts/ring.hpp"

#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce_scatter {

Task ring(Group& g, Call call) {
  const int before_mine = g.rank() - 1;
  co_await reduce_around(g, call, place_by_rank(g), &ranks_block_on_ring, before_mine, call.output);
}

using namespace letters;

extern constinit const Description ring_described{
    .collective = Collective::reduce_scatter_block,
    .with_lengths = Collective::reduce_scatter,
    .name = "ring",
    .run = &ring,
    .needs = {.commutative = true},
    .summary = "partial sums go around a ring to where they belong",
    .source = "Patarasuk, Yuan 2009",
    .cost = both(around(n) + (P - 1) * n * gamma),
};

}  // namespace stretto::reduce_scatter
