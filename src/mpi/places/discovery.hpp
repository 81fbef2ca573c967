// Finds out where the ranks of a communicator are.
#pragma once

#include <mpi.h>

#include <vector>

#include "select/configuration.hpp"
#include "topology/topology.hpp"

namespace stretto::mpi {

/// Of each rank the lowest on its node. Collective.
std::vector<int> find_nodes(MPI_Comm comm);

/// Nodes, and the switches between them where the file of STRETTO_TOPOLOGY, which rank 0 reads, tells of all nodes; if
/// it does not, rank 0 says why, once. Or as measured, where that is wanted. Collective, and the same on all ranks.
/// `nodes` are those of find_nodes.
Topology discover_topology(MPI_Comm comm, const std::vector<int>& nodes, const Configuration& configuration);

/// The same with the parts of nodes that ranks are bound to, where some node has several ranks. Where one rank cannot
/// know its own, none has any, and that rank says why, once, if `asked`: the user wants what needs them. Collective,
/// and the same on all ranks.
Topology discover_insides(MPI_Comm comm, const Topology& known, const std::vector<int>& nodes,
                          const Configuration& configuration, bool asked);

}  // namespace stretto::mpi
