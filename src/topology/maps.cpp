#include "topology/maps.hpp"

#include <bit>
#include <queue>
#include <tuple>

namespace stretto {
namespace {

// The ranks that take part in a hypercube: a power of two. With `extra` ranks more, the first so many participants have
// a partner each, one rank before them, with whom they exchange everything.
class Hypercube {
 public:
  explicit Hypercube(int ranks)
      : participants_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), extra_(ranks - participants_) {}

  int participants() const { return participants_; }
  bool has_partner(int participant) const { return participant < extra_; }
  int rank_of(int participant) const { return has_partner(participant) ? 2 * participant + 1 : participant + extra_; }

 private:
  int participants_;
  int extra_;
};

// A neighbour of `participant` that is not mapped, the closest that there is; -1 if all are.
int find_unmapped(const Mapper& mapper, const Hypercube& cube, int participant, Closest closest) {
  const bool nearest = closest == Closest::nearest_numbers;
  for (int distance = nearest ? 1 : cube.participants() / 2; distance > 0 && distance < cube.participants();
       distance = nearest ? distance * 2 : distance / 2) {
    const int neighbour = participant ^ distance;
    if (!mapper.is_mapped(cube.rank_of(neighbour))) return neighbour;
  }
  return -1;
}

}  // namespace

RankMap map_ring(const Topology& topology, int first) {
  Mapper mapper(topology, first);
  for (int rank = 0; rank + 1 < topology.ranks(); ++rank) mapper.map(rank + 1, rank);
  return std::move(mapper).take();
}

RankMap map_hypercube(const Topology& topology, int first, Closest closest) {
  const Hypercube cube(topology.ranks());
  Mapper mapper(topology, first);
  if (cube.has_partner(0)) mapper.map(1, 0);  // rank 0 is the partner, which is where it is
  std::vector<int> mapped{0};
  std::size_t oldest = 0;  // of the mapped ones that may have a neighbour that is not
  int reference = 0;
  bool second = false;
  while (static_cast<int>(mapped.size()) < cube.participants()) {
    const int next = find_unmapped(mapper, cube, reference, closest);
    if (next < 0) {
      while (find_unmapped(mapper, cube, mapped[oldest], closest) < 0) ++oldest;
      reference = mapped[oldest];
      second = false;
      continue;
    }
    mapper.map(cube.rank_of(next), cube.rank_of(reference));
    if (cube.has_partner(next)) mapper.map(cube.rank_of(next) - 1, cube.rank_of(next));
    mapped.push_back(next);
    if (second) reference = next;
    second = !second;
  }
  return std::move(mapper).take();
}

RankMap map_greedy(const Topology& topology, int first, const Traffic& traffic) {
  struct Neighbour {
    int rank;
    double bytes;
  };
  std::vector<std::vector<Neighbour>> neighbours(static_cast<std::size_t>(topology.ranks()));
  for (const Edge& edge : traffic) {
    neighbours[static_cast<std::size_t>(edge.a)].push_back({edge.b, edge.bytes});
    neighbours[static_cast<std::size_t>(edge.b)].push_back({edge.a, edge.bytes});
  }
  Mapper mapper(topology, first);
  std::vector<int> mapped;                                     // in their order
  std::priority_queue<std::tuple<double, int, int>> heaviest;  // bytes, index in `mapped`, the other rank negated
  const auto note_mapped = [&](int rank) {
    for (const auto& [other, bytes] : neighbours[static_cast<std::size_t>(rank)]) {
      heaviest.emplace(bytes, static_cast<int>(mapped.size()), -other);
    }
    mapped.push_back(rank);
  };
  note_mapped(0);
  int untouched = 1;
  while (static_cast<int>(mapped.size()) < topology.ranks()) {
    int rank = untouched;
    int reference = mapped.back();
    if (heaviest.empty()) {  // the rest has no traffic with those that are mapped
      ++untouched;
    } else {
      // Of edges of one weight, that of whom was mapped last: a tree is gone through depth first.
      rank = -std::get<2>(heaviest.top());
      reference = mapped[static_cast<std::size_t>(std::get<1>(heaviest.top()))];
      heaviest.pop();
    }
    if (mapper.is_mapped(rank)) continue;
    mapper.map(rank, reference);
    note_mapped(rank);
  }
  return std::move(mapper).take();
}

double hop_bytes(const Topology& topology, const RankMap& map, const Traffic& traffic) {
  double sum = 0;
  for (const auto& [a, b, bytes] : traffic) {
    sum += bytes * topology.distance(map[static_cast<std::size_t>(a)], map[static_cast<std::size_t>(b)]);
  }
  return sum;
}

}  // namespace stretto
