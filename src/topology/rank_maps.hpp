// The rank maps of one communicator, and its ranks by units of the machine, each made when first asked for.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "topology/maps.hpp"
#include "topology/split.hpp"

namespace stretto {

/// A rank map, both ways.
struct Renumbering {
  RankMap rank_of;              // of each virtual rank
  std::vector<int> virtual_of;  // of each rank
};

/// Makes a map whose virtual rank 0 is rank `first`.
using MakeMap = RankMap (*)(const Topology& topology, int first);

/// All ranks find the same maps, as they know the same topology. May be used by several threads.
class RankMaps {
 public:
  explicit RankMaps(Topology topology) : topology_(std::move(topology)) {}

  const Topology& topology() const { return topology_; }
  std::shared_ptr<const Renumbering> find(MakeMap make, int first);
  /// Of all ranks; nullptr where they cannot be divided.
  std::shared_ptr<const Division> division();

 private:
  // Where every rank is root in turn, the maps of all would take O(P^2) memory.
  static constexpr std::size_t kMostKept = 16;
  struct Kept {
    MakeMap make;
    int first;
    std::shared_ptr<const Renumbering> numbers;
  };

  const Topology topology_;
  std::mutex mutex_;
  std::list<Kept> kept_;  // the latest used first
  std::optional<std::shared_ptr<const Division>> division_;
};

}  // namespace stretto
