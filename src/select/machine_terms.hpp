// What the formulas of algorithms are computed with, of a machine that was measured and ranks that lie so on it.
#pragma once

#include "catalogue/terms.hpp"
#include "core/costs.hpp"
#include "select/machine.hpp"
#include "select/node_layout.hpp"

namespace stretto {

/// As the algorithms of a communicator on several nodes plan ahead with them (mpi/engine/world.cpp).
Costs costs_between(const Machine& machine);
/// Within a node; where nothing is known a quarter of a network's latency, and bytes at twice its rate.
Costs costs_within(const Machine& machine);

/// Of so many ranks, side by side on nodes of `per_node`; `handshakes`: see Handicaps.
CallTerms call_terms(const Machine& machine, double handshakes, int ranks, int per_node);
/// Of all ranks, as they are numbered.
CallTerms terms_by_number(const Machine& machine, double handshakes, const NodeLayout& layout);
/// Whether the ranks of a node wait for a core when all have something to do: a message within it takes so much longer
/// then than of two alone.
bool ranks_share_cores(const Machine& machine);
/// The same machine, where one rank of each node sends and the others wait in memory.
Machine less_crowded(Machine machine, const NodeLayout& layout);

/// Where nothing is known of a crowd, the ranks of a node share its wire.
Machine known_crowd(Machine machine, const NodeLayout& layout);

}  // namespace stretto
