// What calls are predicted to take: of algorithms as they are, and of hierarchies by their stages.

#include <algorithm>

#include "compose/hierarchy.hpp"
#include "compose/pipelining.hpp"
#include "select/forecast.hpp"

namespace stretto {
namespace {

// The tree that has no name of a shape, with all of a message on each of its edges.
bool is_binomial(const Algorithm& algorithm) {
  const bool whole = algorithm.collective == Collective::bcast || algorithm.collective == Collective::reduce;
  return whole && algorithm.name == "binomial";
}

}  // namespace

// What the messages of a tree take at least, of all of a message along each edge: those of the busiest node share its
// wire, and ranks that each have a node of their own share what all of them can send at once.
double Forecast::shared_ns(const Terms& first, std::size_t segments, std::size_t bytes) const {
  const auto all = static_cast<double>(bytes);
  const double wire_ns = segments == 1 ? first.busiest * all * first.beta_ns : 0;
  if (layout_.nodes < layout_.ranks) return wire_ns;
  return std::max(wire_ns, (first.ranks - 1) / first.ranks * all * first.crowded_beta_ns);
}

// Segments run side by side: when the first is through, each further one takes what keeps the wires, or the cores, busy
// longer.
Forecast::Times Forecast::times_of(CallTerms& terms, const Algorithm& algorithm, std::size_t bytes) {
  const std::size_t segments = segments_of(algorithm.pipelining, bytes, std::max<std::size_t>(bytes, 1));
  const Terms first = terms.of(algorithm, bytes / segments);
  const double run_ns = algorithm.balanced->value(first);
  Times times{run_ns, algorithm.mean == algorithm.balanced ? run_ns : algorithm.mean->value(first),
              algorithm.after_last->value(first), algorithm.waiting->value(first)};
  if (segments > 1) {
    Terms wires = first;
    wires.alpha_ns = wires.near_alpha_ns = wires.gamma_ns = wires.copy_ns = 0;
    Terms cores = first;
    cores.alpha_ns = cores.near_alpha_ns = cores.beta_ns = cores.near_beta_ns = 0;
    const double further_ns = static_cast<double>(segments - 1) *
                              std::max(algorithm.balanced->value(wires), algorithm.balanced->value(cores));
    for (double* each : {&times.run_ns, &times.mean_ns, &times.after_last_ns}) *each += further_ns;
  }
  const bool is_tree = algorithm.shape != nullptr || is_binomial(algorithm);
  const double queued_ns = is_tree ? shared_ns(first, segments, bytes) - times.run_ns : 0;
  if (queued_ns > 0) {
    times.run_ns += queued_ns;
    times.mean_ns += queued_ns / 2;
  }
  return times;
}

// Who waits in memory for others of its node is taken to wait as long for what they tell as it would for a message.
Forecast::Times Forecast::times_within(const Algorithm* stage, std::size_t bytes) {
  if (stage == nullptr) return {};
  Times times = times_of(within_, *stage, bytes);
  if (stage->needs.memory == Memory::none) return times;
  times.run_ns += near_ns_;
  times.after_last_ns += near_ns_;
  if (stage->mean == stage->balanced) times.mean_ns += near_ns_;
  return times;
}

// What goes up, between and down for messages, or blocks, of `bytes` bytes, in bytes of a message, or a block.
Forecast::StageBytes Forecast::bytes_of_stages(const Hierarchy& hierarchy, Collective collective,
                                               std::size_t bytes) const {
  const auto a_node = static_cast<std::size_t>(layout_.most_on_a_node());
  const std::size_t of_all = static_cast<std::size_t>(layout_.ranks) * bytes;
  switch (without_lengths(collective)) {
    case Collective::allreduce:
      return {bytes, is_by_teams(hierarchy, collective) ? (bytes + a_node - 1) / a_node : bytes, bytes};
    case Collective::gather:
    case Collective::scatter:
      return {bytes, a_node * bytes, bytes};
    case Collective::allgather:
      return {bytes, a_node * bytes, of_all};
    case Collective::reduce_scatter_block:
      return {of_all, bytes, 0};
    case Collective::alltoall:
      return {static_cast<std::size_t>(layout_.nodes) * bytes, a_node * bytes, 0};
    default:
      return {bytes, bytes, bytes};
  }
}

// Leaders have the wire of their nodes for themselves if the others wait in memory; all teams are at it at once.
CallTerms& Forecast::terms_between(const Hierarchy& hierarchy, Collective collective) {
  const auto in_memory = [](const Algorithm* stage) { return stage != nullptr && stage->needs.memory != Memory::none; };
  if (is_by_teams(hierarchy, collective)) return of_team_;
  return in_memory(hierarchy.up) || in_memory(hierarchy.down) ? alone_ : between_;
}

// What leaders would copy where there are none: of stripes of an allreduce what has come up, and what is to go down; of
// other stripes all but a rank's share of what has come up; in teams what is left in memory for others. And where
// blocks stay there, what has come up, and all that is to go down.
double Forecast::saved_copies(const Hierarchy& hierarchy, Collective collective, std::size_t bytes) const {
  const double copy_ns = within_.machine().copy_ns;
  const double all_ns = static_cast<double>(layout_.ranks) * static_cast<double>(bytes) * copy_ns;
  if (is_in_pool(hierarchy, collective)) return all_ns + all_ns / layout_.nodes;
  if (!is_by_teams(hierarchy, collective)) return 0;
  if (collective == Collective::allreduce) return 2 * static_cast<double>(bytes) * copy_ns;
  return collective == Collective::alltoall ? all_ns : all_ns - all_ns / layout_.most_on_a_node();
}

// Whoever does not lead its node leaves a reduce, or a gather, when its part is at its leader, and delays a broadcast,
// or a scatter, within its node alone.
Forecast::Times Forecast::times_of(const Hierarchy& hierarchy, Collective collective, std::size_t bytes) {
  const StageBytes of_stages = bytes_of_stages(hierarchy, collective, bytes);
  const Times between = times_of(terms_between(hierarchy, collective), *hierarchy.between, of_stages.between);
  const Times up = times_within(hierarchy.up, of_stages.up);
  const Times down = times_within(hierarchy.down, of_stages.down);
  Times all{between.run_ns + up.run_ns + down.run_ns, between.mean_ns + up.run_ns + down.mean_ns,
            between.after_last_ns + up.after_last_ns + down.after_last_ns};
  const double saved_ns = saved_copies(hierarchy, collective, bytes);
  all.run_ns -= saved_ns;
  all.mean_ns -= saved_ns;
  all.after_last_ns -= collective == Collective::allreduce ? saved_ns / 2 : saved_ns;
  const double leaders = static_cast<double>(layout_.nodes) / layout_.ranks;
  const double in_a_node = 1.0 / layout_.nodes;
  if (collective == Collective::reduce || collective == Collective::gather) {
    all.mean_ns = leaders * (up.run_ns + between.mean_ns) + (1 - leaders) * up.mean_ns;
    all.waiting = leaders * between.waiting + in_a_node * up.waiting;
  } else if (collective == Collective::bcast && is_led_by_first_comers(hierarchy)) {
    all.waiting = 1.0 / layout_.ranks;  // for the root alone
  } else if (collective == Collective::bcast || collective == Collective::scatter) {
    all.waiting = leaders * between.waiting + in_a_node * down.waiting;
  }
  return all;
}

Forecast::Times Forecast::times_of(const Algorithm& algorithm, std::size_t bytes) {
  if (algorithm.hierarchy != nullptr) return times_of(*algorithm.hierarchy, algorithm.collective, bytes);
  return times_of(algorithm.map != nullptr ? by_places_ : by_number_, algorithm, bytes);
}

double Forecast::cost_ns(const Algorithm& algorithm, std::size_t bytes) {
  const Times times = times_of(algorithm, bytes);
  return (times.run_ns + times.mean_ns + times.after_last_ns + times.waiting * times.run_ns) / 4;
}

double Forecast::cost_ns(const Algorithm& algorithm, std::size_t bytes, double late_ns) {
  if (late_ns <= 0) return cost_ns(algorithm, bytes);
  const Times times = times_of(algorithm, bytes);
  return (times.mean_ns + times.after_last_ns + times.waiting * late_ns) / 3;
}

}  // namespace stretto
