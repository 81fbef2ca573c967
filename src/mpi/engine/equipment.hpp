// What algorithms run on at a rank of a communicator: an endpoint, and all that it refers to.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "core/group.hpp"
#include "topology/rank_maps.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

class Equipment {
 public:
  /// `nodes`: of each rank the lowest on its node; outlives the equipment.
  Equipment(const Channel& channel, std::span<const int> nodes, std::unique_ptr<Platform> platform,
            std::unique_ptr<Transport> transport, Topology topology, const Costs& costs)
      : platform_(std::move(platform)),
        transport_(std::move(transport)),
        endpoint_(channel.rank(), channel.size(), *platform_, *transport_) {
    endpoint_.nodes = nodes;
    endpoint_.costs = costs;
    know(std::move(topology));
  }
  Equipment(const Equipment&) = delete;
  Equipment& operator=(const Equipment&) = delete;

  /// From now on ranks are mapped by `topology`. Not while a call runs.
  void know(Topology topology) {
    maps_ = std::make_unique<RankMaps>(std::move(topology));
    endpoint_.maps = maps_.get();
  }

  const Topology& topology() const { return maps_->topology(); }
  Endpoint& endpoint() { return endpoint_; }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<RankMaps> maps_;
  Endpoint endpoint_;
};

}  // namespace stretto::mpi
