// Binomial tree: every holder of the data passes it on, doubling the number of holders each round.
//
// Thakur, Rabenseifner, Gropp 2005, section 4.3.
// Cost: log2(P) (α + nβ). For small messages. A late inner node delays its sub-tree.

#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {

Task binomial(Group& g, Call call) {
  const int p = g.size();
  const int me = relative_rank(g.rank(), call.root, p);
  const int up = parent_distance(me, p);
  if (me > 0) co_await g.recv(call.output, call.bytes(), absolute_rank(me - up, call.root, p));
  for (int distance = up / 2; distance >= 1; distance /= 2) {
    if (me + distance < p) co_await g.send(call.output, call.bytes(), absolute_rank(me + distance, call.root, p));
  }
}

using namespace letters;

extern constinit const Description binomial_described{
    .collective = Collective::bcast,
    .name = "binomial",
    .run = &binomial,
    .map = "binomial",
    .summary = "data spreads along a binomial tree",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = {.balanced = climbing(n),
             .after_last = below(n),
             .mean = (1 - w) * midway(n) + w * climbing(n),
             .waiting = d / P},
};

}  // namespace stretto::bcast
