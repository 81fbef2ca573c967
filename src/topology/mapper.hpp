// Mapper: puts virtual ranks, one after the other, on the nearest free ranks to those that have been put already.
#pragma once

#include <numeric>
#include <vector>

#include "topology/topology.hpp"

namespace stretto {

/// Which rank stands for each virtual rank: an algorithm runs as if ranks were numbered so.
using RankMap = std::vector<int>;

class Mapper {
 public:
  /// Virtual rank 0 is rank `first`.
  Mapper(const Topology& topology, int first)
      : topology_(topology), map_(static_cast<std::size_t>(topology.ranks()), -1), next_free_(map_.size() + 1) {
    std::iota(next_free_.begin(), next_free_.end(), 0);
    put(0, topology.place_of(first));
  }

  bool is_mapped(int virtual_rank) const { return rank_of(virtual_rank) >= 0; }

  /// Puts a virtual rank as close as possible to one that is mapped. Of ranks that are equally close to it, that with
  /// the first place.
  void map(int virtual_rank, int reference) {
    int unit = topology_.unit_of(rank_of(reference));
    int place = free_from(topology_.first_place(unit));
    while (place >= topology_.end_of_places(unit)) {
      unit = topology_.units()[static_cast<std::size_t>(unit)].parent;
      place = free_from(topology_.first_place(unit));
    }
    put(virtual_rank, place);
  }

  RankMap take() && { return std::move(map_); }

 private:
  int rank_of(int virtual_rank) const { return map_[static_cast<std::size_t>(virtual_rank)]; }

  void put(int virtual_rank, int place) {
    map_[static_cast<std::size_t>(virtual_rank)] = topology_.rank_at(place);
    next_free_[static_cast<std::size_t>(place)] = place + 1;
  }

  // The first free place from this one on. Of a place that is taken, `next_free_` is one not behind the next free one,
  // and comes nearer to it each time that somebody passes.
  int free_from(int place) {
    auto at = static_cast<std::size_t>(place);
    while (next_free_[at] != static_cast<int>(at)) {
      const auto next = static_cast<std::size_t>(next_free_[at]);
      next_free_[at] = next_free_[next];
      at = next;
    }
    return static_cast<int>(at);
  }

  const Topology& topology_;
  RankMap map_;
  std::vector<int> next_free_;  // a free place has itself; the last entry stands for none
};

}  // namespace stretto
