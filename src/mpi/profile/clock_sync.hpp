// By how much the clocks of several nodes differ.
#pragma once

#include <cstdint>
#include <span>

#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// At `at_ns` of its CLOCK_MONOTONIC this rank's clock was `offset_ns` ahead of that of rank 0, give or take
/// `error_ns`.
struct ClockOffset {
  std::int64_t at_ns = 0;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

/// Compares the clocks of all ranks of `channel`, over its first stream; collective. `nodes[rank]` is the lowest rank
/// on its node; the ranks of one share a clock. Takes about a hundred round trips for each doubling of the number of
/// nodes, and nothing on one node.
///
/// One rank a node takes part: in round k = 0, 1, ... nodes 2^k to 2^(k+1) - 1 each ask the node 2^k before, which
/// knows rank 0's time by then (HCA3's order: Hunold and Carpen-Amarie, Hierarchical Clock Synchronization in MPI,
/// CLUSTER 2018, doi:10.1109/CLUSTER.2018.00050). An offset is found as SKaMPI does: the reference's time lies between
/// our sending and our receiving, so every round trip bounds the offset from both sides, and the bounds of all are
/// intersected. Half of what is left between them, and the reference's own error, bound the error. Drift shows in a
/// second measurement.
ClockOffset compare_clocks(const Channel& channel, std::span<const int> nodes);

}  // namespace stretto::mpi
