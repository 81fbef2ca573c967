// Pre-reduced ring: what the early ranks can reduce before the last one comes goes ahead, the rest goes around the
// ring.
//
// PRR of Proficz 2018, as Alizadeh 2021, section 5.2, describes it: a ring in predicted order in which early ranks do
// as many reducing pre-steps as the predicted times allow. That paper is not at hand, and the pre-steps are ours. A
// pre-step reduces one of the message's m segments along the line of ranks as far as the last but one; when the last
// rank is there, the segment passes it and its result goes on around (algorithms/parts/linear_tree.hpp). So it passes
// each link once after the last arrival, where a block of the ring does twice, as partial sum and as result. The ring's
// blocks get smaller with every pre-step, and with all m there is no ring left. (To start the ring's own P blocks
// earlier would save reductions only: all of them still leave the last rank one by one, and the last has P-2 hops to
// go.) Cost: balanced, 2(P-1) (α + nβ/P) + nγ, as it is the ring then. After the last arrival with e pre-steps (2 -
// e/m) nβ + (1 - e/m) nγ and latencies, with all of them (P + m) (α + nβ/m) + nγ/m. For long messages on ranks whose
// order is known, however wide the gaps are. Pre-steps are planned: if the last rank comes sooner, they are done after
// it. Commutative operations only: the order of summation is the prediction's.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/line.hpp"
#include "algorithms/parts/linear_tree.hpp"
#include "algorithms/parts/segments.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task ring(Group& g, Call call);

namespace {

// Whether the line, everything being reduced in it, is through sooner than the ring.
bool line_pays(const Costs& costs, std::size_t n, std::int64_t p, std::size_t segments) {
  const std::size_t block = n / static_cast<std::size_t>(p);
  const std::int64_t ring_ns = (p - 1) * (2 * costs.message_ns(block) + costs.reduce_ns(block));
  const std::size_t segment = n / segments;
  const std::int64_t steps = p + static_cast<std::int64_t>(segments);
  return steps * costs.message_ns(segment) + costs.reduce_ns(segment) < ring_ns;
}

// How many segments the last rank but one will have, reduced, when the last one comes.
std::size_t pre_steps(const Group& g, const Call& call, std::size_t segments) {
  const Costs& costs = g.costs();
  const Line line(g, call);
  const int last = g.size() - 1;
  if (last == 0 || segments == 0 || !line_pays(costs, call.bytes(), g.size(), segments)) return 0;
  const std::size_t segment = call.bytes() / segments;
  const std::int64_t step_ns = costs.message_ns(segment) + costs.reduce_ns(segment);
  std::int64_t first_due_ns = 0;  // a segment is there when everybody has come and it has made the way from them
  for (int position = 0; position < last; ++position)
    first_due_ns = std::max(first_due_ns, line.expected_ns(position) + (last - 1 - position) * step_ns);
  const std::int64_t time_ns = line.expected_ns(last) - first_due_ns;
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(time_ns, 0) / std::max<std::int64_t>(step_ns, 1));
  if (steps >= segments) return segments;
  // A segment beside the ring saves the ring its bytes, and costs a message.
  return costs.wire_ns(segment) + costs.reduce_ns(segment) > costs.alpha_ns ? steps : 0;
}

}  // namespace

Task prereduced_ring(Group& g, Call call) {
  const std::size_t segments = pipeline_segments(g, call, g.size());
  const std::size_t ahead = pre_steps(g, call, segments);
  const Block reduced = ahead > 0 ? even_blocks(call.count, segments, 0, ahead) : Block{0, 0};
  TaskGroup both;
  if (ahead > 0) both.spawn(linear_tree(g, part_of(call, reduced), Results::around));
  if (ahead == 0 || ahead < segments) both.spawn(ring(g, part_of(call, {reduced.count, call.count - reduced.count})));
  co_await both.join();
}

using namespace letters;

extern constinit const Description prereduced_ring_described{
    .collective = Collective::allreduce,
    .name = "prereduced_ring",
    .run = &prereduced_ring,
    .needs = {.commutative = true},
    .order = OrderUse::everywhere,
    .sums = Sums::as_they_come,
    .summary = "what there is time to reduce goes ahead of the ring",
    .source = "Proficz 2018",
    .cost = {.balanced = 2 * (P - 1) * alpha + 2 * n * beta + n * gamma,
             .after_last = (P + m) * (alpha + n * beta / m)},
};

}  // namespace stretto::allreduce
