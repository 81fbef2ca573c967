// Binomial tree: partial results climb towards the root, halving the number of holders each round.
//
// Thakur, Rabenseifner, Gropp 2005, section 4.4; Alizadeh 2021, Figure 2.5.
// Cost: log2(P) (α + nβ + nγ), balanced and after the last arrival. A rank leaves when its parent has taken its data.
// Keeps the order of ranks by working from rank 0, with one more hop to any other root when the operation needs it.

#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {

Task binomial(Group& g, Call call) {
  const int p = g.size();
  const int top = call.reduction->commutative ? call.root : 0;
  const int me = relative_rank(g.rank(), top, p);
  const int up = parent_distance(me, p);

  // Only the root owns an output buffer, in allreduce everybody does.
  Scratch memory = g.scratch(2 * call.bytes());
  std::byte* theirs = memory.data();
  std::byte* accumulator = call.output != nullptr ? call.output : memory.data() + call.bytes();
  g.copy(accumulator, call.input, call.bytes());

  // Children hold higher ranks than we do, so their data is the right-hand operand.
  for (int distance = 1; distance < up && me + distance < p; distance *= 2) {
    co_await g.recv(theirs, call.bytes(), absolute_rank(me + distance, top, p));
    g.reduce(call, accumulator, theirs, call.count);
    std::swap(accumulator, theirs);
  }
  if (me > 0) co_await g.send(accumulator, call.bytes(), absolute_rank(me - up, top, p));

  if (top != call.root) {
    if (g.rank() == top) co_await g.send(accumulator, call.bytes(), call.root);
    if (g.rank() == call.root) co_await g.recv(call.output, call.bytes(), top);
  } else if (g.rank() == call.root) {
    g.copy(call.output, accumulator, call.bytes());
  }
}

using namespace letters;

extern constinit const Description binomial_described{
    .collective = Collective::reduce,
    .name = "binomial",
    .run = &binomial,
    .map = "binomial",
    .summary = "partial results climb a binomial tree",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = {.balanced = climbing(n) + log(P) * n * gamma + 2 * n * kappa,
             .after_last = from_last(n) + log(P) * n * gamma + 2 * n * kappa,
             .mean = under(n) + n * gamma + 2 * n * kappa,
             .waiting = d / P},
};

}  // namespace stretto::reduce
