#include "compose/hierarchy.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithms/parts/nodes.hpp"
#include "algorithms/parts/units.hpp"
#include "catalogue/catalogue.hpp"
#include "compose/hierarchy_stages.hpp"

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
  return can_run_among_some(algorithm) && algorithm->needs.memory == Memory::none;
}

// Within nodes, perhaps in the memory that their ranks share.
bool can_run_within_nodes(const Algorithm* algorithm) {
  if (!can_run_among_some(algorithm) || algorithm->needs.words) return false;  // words are of one meeting a call
  return algorithm->needs.memory == Memory::none || algorithm->hierarchy == nullptr;
}

// In shared memory a rank's place is that among the ranks of its node, whoever leads them, and so is its block's.
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

// Serves a hierarchy in the nodes' memory whose nodes have no leader that is known ahead; nullopt if they have.
std::optional<Algorithm> without_leaders(const Hierarchy& how, Collective collective) {
  const auto served_by = [&](Algorithm within, Task (*run)(Group&, Call)) {
    within.collective = collective;
    within.run = run;
    return within;
  };
  if (collective == Collective::allreduce && is_by_teams(how, collective)) return served_by(*how.up, &node_stripes);
  if (without_lengths(collective) == Collective::reduce_scatter_block) return served_by(*how.up, &node_blocks);
  if (is_in_pool(how, collective)) {
    Algorithm in_pool = served_by(*how.up, &node_gather);
    in_pool.needs.pool_from = 0;
    return in_pool;
  }
  if (collective == Collective::alltoall) return served_by(*how.up, &node_exchange);
  if (collective == Collective::bcast && is_led_by_first_comers(how)) return served_by(*how.down, &first_comers);
  return std::nullopt;
}

// Of the stages: up to the leader of each unit, among the leaders, and down.
struct Collectives {
  std::optional<Collective> up;
  Collective between;
  std::optional<Collective> down;
};

std::optional<Collectives> collectives_of(Collective whole) {
  switch (whole) {
    case Collective::allreduce:
      return Collectives{Collective::reduce, whole, Collective::bcast};
    case Collective::reduce:
      return Collectives{whole, whole, std::nullopt};
    case Collective::bcast:
      return Collectives{std::nullopt, whole, whole};
    case Collective::barrier:
      return Collectives{whole, whole, Collective::bcast};
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return Collectives{Collective::reduce, whole, std::nullopt};
    case Collective::alltoall:
      return Collectives{whole, whole, std::nullopt};
    // Units may have different numbers of ranks.
    case Collective::scatter:
      return Collectives{std::nullopt, Collective::scatterv, whole};
    case Collective::gather:
      return Collectives{whole, Collective::gatherv, std::nullopt};
    case Collective::allgather:
    case Collective::allgatherv:
      return Collectives{Collective::gather, Collective::allgatherv, Collective::bcast};
    default:
      return std::nullopt;
  }
}

bool has_blocks(Collective collective) {
  return collective == Collective::scatter || collective == Collective::gather || collective == Collective::allgather;
}

Task reduce_in_stages(Group& g, Stages& stages, const Call& call) {
  const bool has_output = g.rank() == call.root;
  Scratch memory = g.scratch(stages.leads() && !has_output ? call.bytes() : 0);
  std::byte* partial = has_output ? call.output : memory.data();
  Task up = stages.up(call.input, stages.leads() ? partial : nullptr, call.count);
  co_await up;
  Call among_leaders = call;
  among_leaders.input = partial;
  among_leaders.output = has_output ? call.output : nullptr;
  Task between = stages.between(among_leaders);
  co_await between;
}

Task all_in_stages(Stages& stages, const Hierarchy& how, const Call& call) {
  if (how.up != nullptr) {
    Task up = stages.up(call.input, stages.leads() ? call.output : nullptr, call.count);
    co_await up;
  }
  Call among_leaders = call;
  among_leaders.input = call.output;
  Task between = stages.between(among_leaders);
  co_await between;
  Task down = stages.down(call.input, call.output, call.count);
  co_await down;
}

}  // namespace

bool is_by_teams_only(Collective collective) {
  return without_lengths(collective) == Collective::reduce_scatter_block || collective == Collective::alltoall;
}

bool is_by_teams(const Hierarchy& how, Collective collective) {
  if (how.up == nullptr || how.between == nullptr) return false;
  switch (without_lengths(collective)) {
    case Collective::allreduce:
    case Collective::reduce_scatter_block:
      // Words are of one meeting a call, not of one a stripe.
      return how.up->in_nodes == InNodes::in_stripes && !how.between->needs.words;
    case Collective::alltoall:
      return how.up->in_nodes == InNodes::in_teams;
    default:
      return false;
  }
}

bool is_in_pool(const Hierarchy& how, Collective collective) {
  const bool gathers_all = without_lengths(collective) == Collective::allgather;
  return gathers_all && how.up != nullptr && how.up->in_nodes == InNodes::in_pool;
}

bool is_led_by_first_comers(const Hierarchy& how) {
  return how.down != nullptr && how.down->in_nodes == InNodes::by_first_comer &&
         how.between->serves_announced != ServesAnnounced::no && !how.between->is_derived();
}

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
  const std::optional<Collectives> stages = collectives_of(collective);
  if (names.within.empty() || !stages) return false;
  found = {};
  found.between = find_algorithm(stages->between, names.between);
  if (stages->up) found.up = find_algorithm(*stages->up, names.within);
  if (stages->down) found.down = find_algorithm(*stages->down, names.within);
  const bool other_name = stages->down == Collective::bcast && collective != Collective::bcast;
  if (found.down == nullptr && other_name && found.up != nullptr) {
    found.down =
        find_algorithm(Collective::bcast, found.up->needs.memory == Memory::none ? "binomial" : "arrival_copy");
  }
  if (is_by_teams_only(collective) && !is_by_teams(found, collective)) return false;
  if (collective == Collective::allgatherv && !is_in_pool(found, collective)) return false;
  return can_run_among_any(found.between) && (!stages->up || can_run_within_nodes(found.up)) &&
         (!stages->down || can_run_within_nodes(found.down));
}

bool has_segments(const Hierarchy& hierarchy) {
  const auto cuts = [](const Algorithm* part) {
    if (part == nullptr) return false;
    return part->pipelining.cuts() || (part->hierarchy != nullptr && has_segments(*part->hierarchy));
  };
  return cuts(hierarchy.up) || cuts(hierarchy.between) || cuts(hierarchy.down);
}

Task Stages::between(Call call) {
  if (!leads()) co_return;
  call.root = parts_.leader_of_root;
  co_await run_algorithm(leaders_, *how_.between, call);
}

Task Stages::within(const Algorithm& algorithm, const std::byte* input, std::byte* output, std::size_t count) {
  Call call = call_;
  call.input = input;
  call.output = output;
  call.count = count;
  call.blocks = nullptr;  // those of the unit are side by side
  call.stride = 0;
  call.root = parts_.leader_in_unit;
  co_await run_algorithm(unit_, algorithm, call);
}

Task run_hierarchical(Group& g, const Algorithm& algorithm, Call call) {
  const Hierarchy& how = *algorithm.hierarchy;
  const bool in_memory = algorithm.uses_node_memory();
  const bool only_teams = is_by_teams_only(algorithm.collective);
  const std::shared_ptr<const Nodes> nodes = in_memory ? nodes_of(g) : nullptr;
  if (in_memory && nodes->are_shared() && (!only_teams || nodes->fewest() == nodes->most())) {
    if (const std::optional<Algorithm> whole = without_leaders(how, algorithm.collective)) {
      call.between = how.between;
      co_await run_algorithm(g, *whole, call);
      co_return;
    }
  }
  std::optional<Split> parts;
  if (!only_teams && (!in_memory || nodes->are_shared())) parts = split_group(g, call.root);
  if (parts && (in_memory || has_blocks(algorithm.collective))) order_by_rank(*parts);
  if (!parts) {
    co_await run_algorithm(g, *how.between, call);
    co_return;
  }
  Stages stages(g, *parts, how, call);
  const auto in_stages = [&] {
    switch (algorithm.collective) {
      case Collective::reduce:
        return reduce_in_stages(g, stages, call);
      case Collective::scatter:
        return scatter_in_stages(g, *parts, stages, call);
      case Collective::gather:
        return gather_in_stages(g, *parts, stages, call);
      case Collective::allgather:
        return allgather_in_stages(g, *parts, stages, call);
      default:
        return all_in_stages(stages, how, call);
    }
  };
  Task all = in_stages();
  co_await all;
}

}  // namespace stretto
