// Reduce-scatter by recursive halving, then gather to the root along a binomial tree.
//
// Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.4.
// Cost: 2 log2(P) α + 2 n(P-1)/P β + n(P-1)/P γ, all of it after the last arrival. For large messages; commutative
// operations only. Ranks are numbered relative to the root, so that the gather ends there.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/halving.hpp"
#include "algorithms/patterns/trees.hpp"

namespace stretto::reduce {

Task reduce_scatter_gather(Group& g, Call call) {
  const int p = g.size();
  const int power = floor_power_of_two(p);
  const int extra = p - power;
  const int me = relative_rank(g.rank(), call.root, p);
  const auto rank_of = [&](int relative) { return absolute_rank(relative, call.root, p); };

  Scratch memory = g.scratch(2 * call.bytes());
  std::byte* theirs = memory.data();
  std::byte* accumulator = g.rank() == call.root ? call.output : memory.data() + call.bytes();
  g.copy(accumulator, call.input, call.bytes());

  // The `extra` ranks beyond the power of two hand everything to a partner and leave.
  if (me >= power) {
    co_await g.send(accumulator, call.bytes(), rank_of(me - power));
    co_return;
  }
  if (me < extra) {
    co_await g.recv(theirs, call.bytes(), rank_of(me + power));
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

}  // namespace stretto::reduce
