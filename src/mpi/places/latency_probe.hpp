// The switches between nodes, as far as the time that small messages take gives them away.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace stretto::mpi {

/// A topology.conf of one level: a line for the nodes that are near each other. `nodes[rank]` is the lowest rank on its
/// node, `hosts[rank]` that node's name. Collective, and the same on all ranks. One rank of each node sends and answers
/// messages, one pair after the other, O(N) in all.
std::string measure_network(MPI_Comm comm, const std::vector<int>& nodes, const std::vector<std::string>& hosts);

}  // namespace stretto::mpi
