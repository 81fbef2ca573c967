// Scatter along a binomial tree, then allgather around a ring (van de Geijn).
//
// Thakur, Rabenseifner, Gropp 2005, section 4.3.
// Cost: (log2(P) + P - 1) α + 2 n(P-1)/P β. For large messages.

#include "algorithms/parts/ring.hpp"
#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {

Task scatter_allgather(Group& g, Call call) {
  const int p = g.size();
  const auto parts = static_cast<std::size_t>(p);
  const int me = relative_rank(g.rank(), call.root, p);
  const auto rank_of = [&](int relative) { return absolute_rank((relative + p) % p, call.root, p); };
  // The blocks of the sub-tree below a node at distance `distance` from its parent.
  const auto subtree = [&](int node, int distance) {
    const int blocks = node + distance < p ? distance : p - node;
    return even_blocks(call.count, parts, static_cast<std::size_t>(node), static_cast<std::size_t>(blocks));
  };

  const int up = parent_distance(me, p);
  if (me > 0) {
    const Block mine = subtree(me, up);
    co_await g.recv(call.output + offset(call, mine), bytes(call, mine), rank_of(me - up));
  }
  for (int distance = up / 2; distance >= 1; distance /= 2) {
    if (me + distance >= p) continue;
    const Block theirs = subtree(me + distance, distance);
    co_await g.send(call.output + offset(call, theirs), bytes(call, theirs), rank_of(me + distance));
  }

  co_await gather_around(g, call, {me, rank_of(me - 1), rank_of(me + 1)}, &even_block_on_ring, me);
}

using namespace letters;

extern constinit const Description scatter_allgather_described{
    .collective = Collective::bcast,
    .name = "scatter_allgather",
    .run = &scatter_allgather,
    .map = "ring",
    .summary = "scatter along a tree, allgather around a ring",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = {.balanced = growing(n) + around(n / P), .after_last = past_last(n / P) + around(n / P)},
};

}  // namespace stretto::bcast
