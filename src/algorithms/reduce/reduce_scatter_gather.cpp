// Reduce-scatter by recursive halving, then gather to the root along a binomial tree.
//
// Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.4.
// Cost: 2 log2(P) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival. For large messages; commutative
// operations only. Ranks are numbered relative to the root, so that the gather ends there. The first exchange, of half
// the data, is with the next rank, as in allreduce's rabenseifner.

#include "algorithms/parts/halving.hpp"
#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {

Task reduce_scatter_gather(Group& g, Call call) {
  const int p = g.size();
  const int power = floor_power_of_two(p);
  const int extra = p - power;
  const int relative = relative_rank(g.rank(), call.root, p);
  const bool paired = relative < 2 * extra;
  const int me = reversed_bits(paired ? relative / 2 : relative - extra, power);
  const auto rank_of = [&](int number) {
    const int participant = reversed_bits(number, power);
    return absolute_rank(participant < extra ? 2 * participant : participant + extra, call.root, p);
  };

  Scratch memory = g.scratch(2 * call.bytes());
  std::byte* theirs = memory.data();
  std::byte* accumulator = g.rank() == call.root ? call.output : memory.data() + call.bytes();
  g.copy(accumulator, call.input, call.bytes());

  // With `extra` ranks more than a power of two, of so many pairs one hands everything to the other and leaves.
  if (paired && relative % 2 == 1) {
    co_await g.send(accumulator, call.bytes(), rank_of(me));
    co_return;
  }
  if (paired) {
    co_await g.recv(theirs, call.bytes(), absolute_rank(relative + 1, call.root, p));
    g.reduce(call, theirs, accumulator, call.count);
  }

  const auto run = [&](int first, int blocks) {
    return even_blocks(call.count, static_cast<std::size_t>(power), static_cast<std::size_t>(first),
                       static_cast<std::size_t>(blocks));
  };
  Task halving = reduce_by_halving(g, call, accumulator, theirs, {me, power}, run, rank_of);
  co_await halving;

  // Gather: block `me` is finished here; runs of blocks join on the way to the root, and a rank leaves with its run.
  for (int half = 1; half < power; half *= 2) {
    if ((me & half) != 0) {
      const Block have = run(me, half);
      co_await g.send(accumulator + offset(call, have), bytes(call, have), rank_of(me - half));
      co_return;
    }
    const Block want = run(me + half, half);
    co_await g.recv(accumulator + offset(call, want), bytes(call, want), rank_of(me + half));
  }
}

using namespace letters;

extern constinit const Description reduce_scatter_gather_described{
    .collective = Collective::reduce,
    .name = "reduce_scatter_gather",
    .run = &reduce_scatter_gather,
    .needs = {.commutative = true},
    .map = "rabenseifner",
    .summary = "reduce-scatter by halving, then gather",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .cost = {.balanced = 2 * halving(n) + (P - 1) * n * gamma / P + e * (beside(n) + n * gamma) / 2 + n * kappa,
             .after_last = halving(n) + from_last(0) + (P - 1) * n * (beta + gamma) / P +
                           e * (beside(n) + n * gamma) / 2 + n * kappa,
             .mean = halving(n) + (P - 1) * any(0) / P + log(P) * n * beta / P / 2 + n * gamma + n * kappa},
};

}  // namespace stretto::reduce
