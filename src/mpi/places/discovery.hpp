// Finds out where the ranks are.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "select/configuration.hpp"
#include "topology/network.hpp"
#include "topology/topology.hpp"

namespace stretto::mpi {

/// What is known of the network between the nodes of all ranks. Empty where nobody has asked for it, or it could not be
/// found out.
struct Places {
  std::optional<Network> network;
  std::vector<std::string> hosts;  // of each rank of the world its node's name
};

/// The switches between nodes, where the file of STRETTO_TOPOLOGY, which rank 0 reads, tells of all nodes; if it does
/// not, rank 0 says why. Or as measured, where that is wanted. `nodes[rank]` is the lowest rank on its node. Makes
/// communicators: in MPI_Init only. Collective, and the same on all ranks.
Places discover_places(MPI_Comm world, const std::vector<int>& nodes, const Configuration& configuration);

/// Of a communicator whose ranks are `world_ranks`: nodes, and the switches between them where they are known.
Topology topology_of(const Places& places, const std::vector<int>& nodes, const std::vector<int>& world_ranks);

/// The same with the parts of nodes that ranks are bound to, where some node has several ranks. Where one rank cannot
/// know its own, none has any, and that rank says why, once, if `asked`: the user wants what needs them. Collective
/// over `comm`, and the same on all ranks.
Topology discover_insides(MPI_Comm comm, const Topology& known, const std::vector<int>& nodes,
                          const Configuration& configuration, bool asked);

}  // namespace stretto::mpi
