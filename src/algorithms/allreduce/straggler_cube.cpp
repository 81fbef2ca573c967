#include "algorithms/allreduce/straggler_cube.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/allreduce/hypercube.hpp"
#include "algorithms/parts/segments.hpp"

namespace stretto {

StragglerCube::StragglerCube(const Line& line, int q) : line_(line), ranks_(std::size_t{1} << q) {
  const int last = line.rank_at(line.size() - 1);
  for (int i = 0; i < nodes() - 1; ++i) ranks_[static_cast<std::size_t>(i)] = line.rank_at(i);
  ranks_.back() = last;
  std::sort(ranks_.begin(), ranks_.end());
  last_ = place_of(last);
}

int StragglerCube::place_of(int rank) const {
  return static_cast<int>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
}

int StragglerCube::guest() const { return line_.last() ? -1 : std::max(line_.position() - (nodes() - 1), -1); }

int straggler_dimensions(const Group& g, const Call& call, const Line& line) {
  if (call.count == 0) return 0;
  const Costs& costs = g.costs();
  const int p = g.size();
  const auto message_ns = [&](std::size_t parts) { return costs.message_ns(call.bytes() / parts); };
  const auto reduce_ns = [&](std::size_t parts) { return costs.reduce_ns(call.bytes() / parts); };
  const std::int64_t last_ns = line.expected_ns(p - 1);
  const auto around = static_cast<std::size_t>(p);
  int best = 0;
  std::int64_t best_ns = last_ns + (p - 1) * (2 * message_ns(around) + reduce_ns(around));
  for (int q = static_cast<int>(std::bit_width(around)) - 1; q > 0; --q) {
    const int nodes = 1 << q;
    const int guests = p - nodes;
    const std::size_t blocks = pipeline_segments(g, call, q);
    const std::int64_t rounds = hypercube_rounds(static_cast<int>(blocks), q);
    // A guest's data go to q owners, and results to it leave the early nodes besides those among them, one by one. Each
    // owner reduces its blocks between rounds.
    const std::int64_t messages = guests * static_cast<std::int64_t>(blocks);
    const std::int64_t step_ns = message_ns(blocks) + reduce_ns(blocks);
    std::int64_t ready_ns = line.expected_ns(nodes - 2) + rounds * step_ns;
    if (guests > 0) ready_ns = std::max(ready_ns, line.expected_ns(p - 2) + messages * step_ns / q);
    const std::int64_t exchange_ns = rounds * message_ns(blocks) + reduce_ns(static_cast<std::size_t>(q));
    const std::int64_t serving_ns = messages * message_ns(blocks) / (nodes - 1);
    const std::int64_t end_ns = std::max(last_ns, ready_ns) + exchange_ns + serving_ns;
    if (end_ns < best_ns) {
      best = q;
      best_ns = end_ns;
    }
  }
  return best;
}

}  // namespace stretto
