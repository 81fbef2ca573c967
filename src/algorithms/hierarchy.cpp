#include "algorithms/hierarchy.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithms/registry.hpp"
#include "topology/rank_maps.hpp"
#include "topology/split.hpp"

namespace stretto {
namespace {

constexpr std::string_view kName = "hierarchical(";

// Among some of the ranks: those that nobody else renumbers, and of whom nothing is expected.
bool can_run_among_some(const Algorithm* algorithm) {
  return algorithm != nullptr && algorithm->run != nullptr && algorithm->map == nullptr &&
         !algorithm->needs_prediction();
}

// Within units that may be anything, or among their leaders.
bool can_run_among_any(const Algorithm* algorithm) {
  return can_run_among_some(algorithm) && algorithm->memory == Memory::none;
}

// Within nodes, perhaps in the memory that their ranks share.
bool can_run_within_nodes(const Algorithm* algorithm) {
  if (!can_run_among_some(algorithm) || algorithm->uses_words) return false;  // words are of one meeting a call
  return algorithm->memory == Memory::none || algorithm->hierarchy == nullptr;
}

// Whether units are nodes: some have several ranks, none has all.
bool nodes_are_shared(Group& g) {
  const std::span<const int> nodes = g.endpoint().nodes;
  bool several = false;
  bool shared = false;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    several = several || nodes[rank] != 0;
    shared = shared || nodes[rank] != static_cast<int>(rank);
  }
  return several && shared;
}

// In shared memory a rank's place is that among the ranks of its node, whoever leads them.
void order_by_rank(Split& parts) {
  const int leader = parts.unit.front();
  const int me = parts.unit[static_cast<std::size_t>(parts.place_in_unit)];
  std::sort(parts.unit.begin(), parts.unit.end());
  const auto place_of = [&](int rank) {
    return static_cast<int>(std::lower_bound(parts.unit.begin(), parts.unit.end(), rank) - parts.unit.begin());
  };
  parts.leader_in_unit = place_of(leader);
  parts.place_in_unit = place_of(me);
}

std::optional<Split> split_group(Group& g, int root) {
  return split(g.endpoint().maps->topology(), g.real_ranks(), g.rank(), root);
}

// One call as its stages see it.
class Stages {
 public:
  Stages(Group& g, const Split& parts, const Hierarchy& how, const Call& call)
      : unit_(g.of(parts.unit, parts.place_in_unit)),
        leaders_(g.of(parts.leaders, parts.place_among_leaders)),
        parts_(parts),
        how_(how),
        call_(call) {}

  /// From `call.input` of all to `result` of the leader.
  Task up(std::byte* result) {
    Call up = call_;
    up.root = parts_.leader_in_unit;
    up.output = parts_.leads() ? result : nullptr;
    co_await run_algorithm(unit_, *how_.up, up);
  }
  /// From `data` of the leaders to `result` of those that the collective leaves it with.
  Task between(const std::byte* data, std::byte* result) {
    if (!parts_.leads()) co_return;
    Call between = call_;
    between.input = data;
    between.output = result;
    between.root = parts_.leader_of_root;
    co_await run_algorithm(leaders_, *how_.between, between);
  }
  /// From `call.output` of the leader to that of all.
  Task down() {
    Call down = call_;
    down.root = parts_.leader_in_unit;
    co_await run_algorithm(unit_, *how_.down, down);
  }

 private:
  Group unit_;
  Group leaders_;
  const Split& parts_;
  const Hierarchy& how_;
  const Call& call_;
};

Task reduce_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call) {
  const bool has_output = g.rank() == call.root;
  Scratch memory = g.scratch(parts.leads() && !has_output ? call.bytes() : 0);
  std::byte* partial = has_output ? call.output : memory.data();
  Task up = stages.up(partial);
  co_await up;
  Task between = stages.between(partial, has_output ? call.output : nullptr);
  co_await between;
}

}  // namespace

HierarchyNames parse_hierarchical(std::string_view name) {
  if (!name.starts_with(kName) || !name.ends_with(')')) return {};
  const std::string_view inside = name.substr(kName.size(), name.size() - kName.size() - 1);
  int depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '(') ++depth;
    if (inside[i] == ')') --depth;
    if (inside[i] == ',' && depth == 0) return {inside.substr(0, i), inside.substr(i + 1)};
  }
  return {};
}

bool find_hierarchy(Collective collective, const HierarchyNames& names, Hierarchy& found) {
  const bool barrier = collective == Collective::barrier;
  const bool goes_up = barrier || collective == Collective::allreduce || collective == Collective::reduce;
  const bool comes_down = barrier || collective == Collective::allreduce || collective == Collective::bcast;
  if (names.within.empty() || (!goes_up && !comes_down)) return false;
  found = {};
  found.between = find_algorithm(collective, names.between);
  if (goes_up) found.up = find_algorithm(barrier ? collective : Collective::reduce, names.within);
  if (comes_down) found.down = find_algorithm(barrier ? collective : Collective::bcast, names.within);
  if (found.down == nullptr && collective == Collective::allreduce && found.up != nullptr) {
    found.down = find_algorithm(Collective::bcast, found.up->memory == Memory::none ? "binomial" : "arrival_copy");
  }
  return can_run_among_any(found.between) && (!goes_up || can_run_within_nodes(found.up)) &&
         (!comes_down || can_run_within_nodes(found.down));
}

bool has_segments(const Hierarchy& hierarchy) {
  const auto cuts = [](const Algorithm* part) {
    if (part == nullptr) return false;
    return part->pipelining.cuts() || (part->hierarchy != nullptr && has_segments(*part->hierarchy));
  };
  return cuts(hierarchy.up) || cuts(hierarchy.between) || cuts(hierarchy.down);
}

Task run_hierarchical(Group& g, const Algorithm& algorithm, Call call) {
  const Hierarchy& how = *algorithm.hierarchy;
  const bool in_memory = algorithm.uses_node_memory();
  std::optional<Split> parts;
  if (!in_memory || nodes_are_shared(g)) parts = split_group(g, call.root);
  if (parts && in_memory) order_by_rank(*parts);
  if (!parts) {
    co_await run_algorithm(g, *how.between, call);
    co_return;
  }
  Stages stages(g, *parts, how, call);
  if (algorithm.collective == Collective::reduce) {
    Task reduced = reduce_in_stages(g, *parts, stages, call);
    co_await reduced;
    co_return;
  }
  if (how.up != nullptr) {
    Task up = stages.up(call.output);
    co_await up;
  }
  Task between = stages.between(call.output, call.output);
  co_await between;
  Task down = stages.down();
  co_await down;
}

}  // namespace stretto
