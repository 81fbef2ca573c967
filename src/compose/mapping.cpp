#include "compose/mapping.hpp"

#include <algorithm>

#include "algorithms/parts/tree_shapes.hpp"
#include "catalogue/catalogue.hpp"

namespace stretto {
namespace {

// Of a k-ary tree the greater child first, whose sub-tree is the smaller; of a k-nomial one the near ones, which have
// none or small ones.
template <TreeShape::Kind kind, int k>
RankMap map_shape(const Topology& topology, int first) {
  return map_tree(topology, first, [&](int rank) {
    std::vector<int> children = place_in({kind, k}, rank, 0, topology.ranks()).children;
    if (kind == TreeShape::Kind::k_ary) std::ranges::reverse(children);
    return children;
  });
}

RankMap map_recursive_doubling(const Topology& topology, int first) {
  return map_hypercube(topology, first, Closest::farthest_numbers);
}
RankMap map_rabenseifner(const Topology& topology, int first) {
  return map_hypercube(topology, first, Closest::nearest_numbers);
}

constexpr MapKind kKinds[] = {{"ring", &map_ring},
                              {"recursive_doubling", &map_recursive_doubling},
                              {"rabenseifner", &map_rabenseifner},
                              {"binary_tree", &map_shape<TreeShape::Kind::k_ary, 2>},
                              {"binomial", &map_shape<TreeShape::Kind::k_nomial, 2>},
                              {"knomial", &map_shape<TreeShape::Kind::k_nomial, 4>}};

const MapKind* find_by_name(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &MapKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::span<const MapKind> map_kinds() { return kKinds; }

const MapKind* find_map_kind(const Algorithm& algorithm, std::string_view name) {
  return find_by_name(name == "topology" ? algorithm.suiting_map : name);
}

bool can_be_mapped(const Algorithm& algorithm) {
  const bool of_all_data = algorithm.collective == Collective::allreduce ||
                           algorithm.collective == Collective::reduce || algorithm.collective == Collective::bcast;
  return of_all_data && algorithm.run != nullptr && algorithm.needs.memory == Memory::none &&
         !algorithm.needs_prediction();
}

Task run_mapped(Group& g, const Algorithm& algorithm, Call call) {
  const std::shared_ptr<const Renumbering> numbers = g.endpoint().maps->find(algorithm.map->make, call.root);
  Group renumbered = g.of(numbers->rank_of, numbers->virtual_of[static_cast<std::size_t>(g.rank())]);
  Algorithm unmapped = algorithm;
  unmapped.map = nullptr;
  call.root = 0;
  co_await run_algorithm(renumbered, unmapped, call);
}

}  // namespace stretto
