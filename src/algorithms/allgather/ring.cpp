// Ring: every rank passes on to the next one the block that it has got from the previous one.
//
// Thakur, Rabenseifner, Gropp 2005; the second half of Castello 2021's ring allreduce.
// Cost: (P-1)(α + nβ), n bytes a block, balanced and after the last arrival alike: its block has P-1 hops to go, and it
// takes in all others from one neighbour.
// For long blocks, with neighbours close to each other: each link carries every block once. A late rank stops them all.

#include "algorithms/parts/ring.hpp"

#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allgather {

Task ring(Group& g, Call call) {
  put_own_block(g, call);
  co_await gather_around(g, call, place_by_rank(g), &ranks_block_on_ring, g.rank());
}

using namespace letters;

extern constinit const Description ring_described{
    .collective = Collective::allgather,
    .with_lengths = Collective::allgatherv,
    .name = "ring",
    .run = &ring,
    .summary = "blocks go around a ring",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = both(around(n) + n * kappa),
};

}  // namespace stretto::allgather
