// The point-to-point time of this job's ranks, which imbalance is measured in.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// One-way time of a message: half of the median round trip.
struct OneWay {
  std::size_t bytes;
  double ns;
};

struct Calibration {
  std::vector<OneWay> node;     // between rank 0 and another rank of its node; empty if it is alone there
  std::vector<OneWay> network;  // between rank 0 and a rank of another node; empty on one node
};

/// Measures alpha (Alizadeh 2021, 2.3) for a few message sizes; collective over all ranks of the world, whose channel
/// it is. `nodes[rank]` is the lowest rank on its node. What was measured is known on rank 0 only. Takes some ten ms;
/// who has nothing to do sleeps, so as not to disturb.
Calibration measure_point_to_point(const Channel& world, std::span<const int> nodes);

}  // namespace stretto::mpi
