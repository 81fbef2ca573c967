// Dissemination barrier: in round t every rank tells the rank 2^t to its right that it is here.
//
// Hensgen, Finkel, Manber 1988, doi:10.1007/BF01379320. After round t a rank knows of its 2^(t+1) - 1 predecessors.
// Cost: ceil(log2 P) α.

#include "algorithms/parts/exchange.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::barrier {

Task dissemination(Group& g, Call) {
  const int p = g.size();
  for (int distance = 1; distance < p; distance *= 2) {
    const int to = (g.rank() + distance) % p;
    const int from = (g.rank() - distance + p) % p;
    co_await exchange(g, nullptr, 0, to, nullptr, 0, from);
  }
}

using namespace letters;

extern constinit const Description dissemination_described{
    .collective = Collective::barrier,
    .name = "dissemination",
    .run = &dissemination,
    .summary = "word of arrivals spreads, doubling each round",
    .source = "Hensgen, Finkel, Manber 1988",
    .cost = both(spreading(0)),
};

}  // namespace stretto::barrier
