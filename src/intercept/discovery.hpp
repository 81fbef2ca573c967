// Finds out where the ranks of a communicator are.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace stretto::intercept {

/// Of each rank the lowest on its node. Collective.
std::vector<int> find_nodes(MPI_Comm comm);

/// Nodes, and the switches between them where `file` (STRETTO_TOPOLOGY), which rank 0 reads, tells of all nodes; if it
/// does not, rank 0 says why, once. Collective, and the same on all ranks. `nodes` are those of find_nodes.
Topology discover_topology(MPI_Comm comm, const std::vector<int>& nodes, const std::string& file);

}  // namespace stretto::intercept
