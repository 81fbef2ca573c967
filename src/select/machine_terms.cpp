#include "select/machine_terms.hpp"

#include <algorithm>

namespace stretto {
namespace {

constexpr std::size_t kPlanned = Machine::kPlanned;
constexpr double kPicoseconds = 1000;  // in a ns

// Where it is not known, nothing.
double gap_of(const Machine& machine, Level level) {
  const Link* const link = machine.link(level);
  return link == nullptr ? 0 : static_cast<double>(link->gap.at(0));
}

// Where it is not known the ranks of a node share its wire.
double crowded_beta_ns(const Machine& machine, const Terms& alone) {
  if (machine.crowded.byte_ps > 0) return static_cast<double>(machine.crowded.byte_ps) / kPicoseconds;
  return alone.ranks_per_node < alone.ranks ? alone.ranks_per_node * alone.beta_ns : alone.beta_ns;
}

// Where it is not known: a message within a node takes some lines from one core to the other, and back.
double line_ns(const Machine& machine, const Costs& near) {
  constexpr double kMost = 200;
  constexpr double kLinesOfMessage = 3;
  if (machine.line_ns > 0) return static_cast<double>(machine.line_ns);
  return std::min(static_cast<double>(near.alpha_ns) / kLinesOfMessage, kMost);
}

Terms terms_of(const Machine& machine, double handshakes, int ranks, int per_node) {
  constexpr double kCopy = 0.05;  // ns a byte, where it is not known
  const Costs far = per_node < ranks ? costs_between(machine) : costs_within(machine);
  const Costs near = costs_within(machine);
  const MemoryTimes* const work = machine.work(per_node < ranks ? 1 : ranks);  // of a node, all at once
  Terms terms;
  terms.ranks = ranks;
  terms.ranks_per_node = per_node;
  terms.alpha_ns = static_cast<double>(far.alpha_ns);
  terms.beta_ns = static_cast<double>(far.beta_ps_per_byte) / kPicoseconds;
  terms.near_alpha_ns = static_cast<double>(near.alpha_ns);
  terms.near_beta_ns = static_cast<double>(near.beta_ps_per_byte) / kPicoseconds;
  terms.crowded_beta_ns = crowded_beta_ns(machine, terms);
  terms.near_crowded_beta_ns = static_cast<double>(machine.crowded.near_byte_ps) / kPicoseconds;
  terms.gap_ns = gap_of(machine, per_node < ranks ? Level::machine : Level::node);
  terms.near_gap_ns = gap_of(machine, Level::node);
  terms.gamma_ns = static_cast<double>(far.gamma_ps_per_byte) / kPicoseconds;
  terms.copy_ns = work == nullptr ? kCopy : static_cast<double>(work->copy.slope_ps(kPlanned)) / kPicoseconds;
  terms.line_ns = line_ns(machine, near);
  terms.handshakes = handshakes;
  terms.eager_bytes = static_cast<double>(far.eager_bytes + 1);
  return terms;
}

}  // namespace

Costs costs_between(const Machine& machine) { return machine.costs(Level::machine, kPlanned); }

Costs costs_within(const Machine& machine) {
  Costs costs = machine.costs(Level::node, kPlanned);
  if (machine.link(Level::node) == nullptr) {
    costs.alpha_ns /= 4;
    costs.beta_ps_per_byte /= 2;
  }
  return costs;
}

CallTerms call_terms(const Machine& machine, double handshakes, int ranks, int per_node) {
  return {terms_of(machine, handshakes, ranks, per_node), costs_between(machine)};
}

bool ranks_share_cores(const Machine& machine) {
  constexpr std::int64_t kLonger = 2;
  return machine.crowded.near_message_ns > kLonger * costs_within(machine).alpha_ns;
}

Machine less_crowded(Machine machine, const NodeLayout& layout) {
  machine.crowded.message_ns /= layout.most_on_a_node();
  machine.crowded.byte_ps /= layout.most_on_a_node();
  return machine;
}

Machine known_crowd(Machine machine, const NodeLayout& layout) {
  if (machine.crowded.byte_ps == 0) {
    machine.crowded.byte_ps = layout.most_on_a_node() * costs_between(machine).beta_ps_per_byte;
  }
  return machine;
}

CallTerms terms_by_number(const Machine& machine, double handshakes, const NodeLayout& layout) {
  const int per_node = layout.placement == Placement::other ? 1 : layout.most_on_a_node();
  Terms terms = terms_of(machine, handshakes, layout.ranks, per_node);
  if (layout.placement == Placement::in_turn) terms.in_turn = layout.nodes;
  return {terms, costs_between(machine)};
}

}  // namespace stretto
