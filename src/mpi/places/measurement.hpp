// The ranks measure the machine that they are on.
#pragma once

#include <mpi.h>

#include "mpi/places/message_times.hpp"
#include "select/machine.hpp"
#include "topology/topology.hpp"

namespace stretto::mpi {

/// One pair of ranks for each level at which any meet, one after the other; then the ranks of rank 0's node, first one,
/// then 2, 4, .. at once, all at last, for what they do in memory. Who does not measure sleeps. Collective over `comm`,
/// whose messages `channel` has, and the same on all ranks: rank 0 tells what came of it. `self`: a communicator of
/// this process alone.
Machine measure_machine(const Channel& channel, MPI_Comm comm, MPI_Comm self, const Topology& topology);

/// What choices between nodes go by, in some 40 ms: messages within a node and, with such care, between nodes, and what
/// rank 0 does in memory, alone and with all of its node. Rounded, so that two runs of a program mostly find the same.
/// Collective and the same on all ranks, as above.
Machine measure_in_brief(const Channel& channel, MPI_Comm comm, const Topology& topology, const Care& between_nodes);

}  // namespace stretto::mpi
