// Who does what in straggler_allreduce: the last rank and those expected first are the nodes of a hypercube, the others
// its guests.
#pragma once

#include <vector>

#include "algorithms/parts/line.hpp"

namespace stretto {

/// The last rank is node 0. Otherwise ranks with near numbers are near in the cube, as they are in the machine.
class StragglerCube {
 public:
  /// 2^q nodes. `line` outlives it.
  StragglerCube(const Line& line, int q);

  int nodes() const { return static_cast<int>(ranks_.size()); }
  int rank_of(int node) const { return ranks_[static_cast<std::size_t>(node ^ last_)]; }
  int node_of(int rank) const { return place_of(rank) ^ last_; }
  int guests() const { return line_.size() - nodes(); }
  int rank_of_guest(int guest) const { return line_.rank_at(nodes() - 1 + guest); }
  /// This rank's number as a guest, -1 for a node.
  int guest() const;

 private:
  int place_of(int rank) const;

  const Line& line_;
  std::vector<int> ranks_;  // the nodes', ascending
  int last_ = 0;            // the last rank's place there
};

/// The q with which a call is through first, as far as arrivals and costs are known; 0: a ring is through as soon.
int straggler_dimensions(const Group& g, const Call& call, const Line& line);

}  // namespace stretto
