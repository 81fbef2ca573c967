// Hierarchy: one algorithm among the ranks of each unit of the machine, another among the units' leaders.
//
// Alizadeh 2021, section 6.4.1: reduce in each node to its leader, allreduce among the leaders, broadcast in each node;
// `hierarchical(reduce_scatter_gather,rabenseifner)` is the one measured there. A late rank holds back the messages of
// its node only. Units are nodes where several ranks share one, else parts of a node or switches (topology/split.hpp);
// a hierarchy within a hierarchy takes the next ones. Where nothing can be divided the second algorithm runs alone.
// With an algorithm of shared memory units are nodes only, and the library leaves calls to its default rule where no
// node is shared by some of the ranks: `hierarchical(arrival_stripes,ring)` takes in a node's ranks
// as they come, and a node counts as arrived when its last rank has, as section 7.2.4 plans.
// Cost: that of the first among q ranks twice, up and down, and of the second among P/q.
#pragma once

#include <string_view>

#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto {

/// Which algorithm does what; those that the collective does not need are null.
struct Hierarchy {
  const Algorithm* up;       // from the ranks of a unit to its leader: reduce, gather, or barrier
  const Algorithm* between;  // among the leaders: the collective itself, or that with blocks of any length
  const Algorithm* down;     // from a leader to the ranks of its unit: bcast, scatter, or barrier
};

/// The two names in `hierarchical(first,second)`; both are empty for any other text. Names may be hierarchies.
struct HierarchyNames {
  std::string_view within;
  std::string_view between;
};
HierarchyNames parse_hierarchical(std::string_view name);

/// What `names` mean for a collective: `within` is an algorithm of reduce or gather, where something goes up, and of
/// bcast or scatter, where something comes down; an allreduce and an allgather come down by `binomial` if bcast has
/// none of the name, or by `arrival_copy` if they go up in shared memory. `between` is an algorithm of scatterv,
/// gatherv or allgatherv for a scatter, gather or allgather. Either reduce_scatter goes up in stripes, by an algorithm
/// of reduce, an alltoall in teams, an allgatherv by blocks that stay in the pool, or they mean nothing. False then,
/// and where one cannot run on a part of the ranks.
bool find_hierarchy(Collective collective, const HierarchyNames& names, Hierarchy& found);

/// Whether hierarchies of the collective have no leaders at all: all ranks of a node speak for it, in its memory, and
/// every node has as many.
bool is_by_teams_only(Collective collective);

/// Whether any part of it runs in segments.
bool has_segments(const Hierarchy& hierarchy);

/// Whether in the memory of nodes the k-th ranks of all of them are a team that speaks for them (node_stripes.cpp,
/// node_blocks.cpp, node_exchange.cpp).
bool is_by_teams(const Hierarchy& hierarchy, Collective collective);

/// Whether blocks stay in the memory of nodes until every rank has taken them all (node_gather.cpp).
bool is_in_pool(const Hierarchy& hierarchy, Collective collective);

/// Whether whoever of a node comes first leads it in a broadcast (first_comers.cpp).
bool is_led_by_first_comers(const Hierarchy& hierarchy);

Task run_hierarchical(Group& g, const Algorithm& algorithm, Call call);

/// Without leaders that are known ahead, in the memory of the nodes; `call.between` goes between them
/// (node_stripes.cpp, node_blocks.cpp, node_exchange.cpp, node_gather.cpp, first_comers.cpp).
Task node_stripes(Group& g, Call call);
Task node_gather(Group& g, Call call);
Task node_blocks(Group& g, Call call);
Task node_exchange(Group& g, Call call);
Task first_comers(Group& g, Call call);

}  // namespace stretto
