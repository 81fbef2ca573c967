// The insides of nodes: which package, NUMA domain, cache and core each rank is bound to.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "topology/topology.hpp"

namespace stretto {

/// A unit of a node; level and number tell it from the node's others.
struct Part {
  Level level = Level::machine;  // which stands for none
  std::int32_t number = 0;       // among those of its level, the same for all ranks of the node
};

/// The parts that hold all the processors that a rank is bound to, from the largest to the smallest, then none. One
/// rank's parts may be fewer or of other levels than those of the rank beside it.
using Parts = std::array<Part, 5>;

/// `nodes` with what is within them, where `parts[rank]` has something. A part is known by the one around it: if two
/// ranks tell of different ones around it, it counts as two.
Topology add_insides(const Topology& nodes, std::span<const Parts> parts);

/// How many units of each level there are with ranks in them: "2 x node, 4 x package".
std::string summary_of(const Topology& topology);

}  // namespace stretto
