#include "algorithms/parts/topology_tree.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/parts/units.hpp"

namespace stretto {
namespace {

// Of `ranks`, numbers in the communicator, of which `ranks[mine]` is this one and `ranks[root]` the top of the tree.
void add_chain(std::span<const int> ranks, int mine, int root, TreePlace& place) {
  const auto size = static_cast<int>(ranks.size());
  const int position = relative_rank(mine, root, size);
  const auto at = [&](int other) { return ranks[static_cast<std::size_t>(absolute_rank(other, root, size))]; };
  if (position > 0) place.parent = at(position - 1);
  if (position + 1 < size) place.children.push_back(at(position + 1));
}

void add_parts(const Topology& topology, const Split& parts, TreePlace& place) {
  const auto add = [&](std::span<const int> ranks, int mine, int root) {
    if (const std::optional<Split> smaller = split(topology, ranks, mine, root)) {
      add_parts(topology, *smaller, place);
    } else {
      add_chain(ranks, mine, root, place);
    }
  };
  if (parts.leads()) add(parts.leaders, parts.place_among_leaders, parts.leader_of_root);
  add(parts.unit, parts.place_in_unit, 0);
}

}  // namespace

TopologyTree topology_tree(Group& g, int root) {
  TopologyTree tree{{}, g.size() - 1};
  if (const std::optional<Split> units = split_group(g, root)) {
    const auto leaders = static_cast<int>(units->leaders.size());
    tree.depth = leaders + g.size() / leaders;
    add_parts(g.endpoint().maps->topology(), *units, tree.place);
  } else {
    add_chain(g.real_ranks(), g.rank(), root, tree.place);
  }
  if (g.is_whole()) return tree;
  // Back to the numbers of the group.
  const std::vector<int> ranks = g.real_ranks();
  const auto number_of = [&](int rank) { return static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin()); };
  if (tree.place.parent >= 0) tree.place.parent = number_of(tree.place.parent);
  for (int& child : tree.place.children) child = number_of(child);
  return tree;
}

}  // namespace stretto
