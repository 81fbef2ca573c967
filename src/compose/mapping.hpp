// Mapping: any algorithm of messages alone with its ranks renumbered, so that those which exchange much are close.
//
// Kitor 2022, chapter 4, where each process asks MPI_Comm_split for its new rank; here Group translates. A root becomes
// virtual rank 0, whichever it is: the data take no extra hop from it, as they do there. Users name an algorithm with
// the map that suits it `ring@topology`, one with another map `scatter_allgather@recursive_doubling`.
#pragma once

#include <span>
#include <string_view>

#include "core/algorithm.hpp"
#include "core/group.hpp"
#include "topology/rank_maps.hpp"

namespace stretto {

/// A way to make maps, by name.
struct MapKind {
  std::string_view name;
  MakeMap make;
};
std::span<const MapKind> map_kinds();

/// The kind of a name; `topology` is that which suits the algorithm. nullptr if there is none.
const MapKind* find_map_kind(const Algorithm& algorithm, std::string_view name);

/// Whether ranks can be renumbered: where they exchange messages, of which none is meant for a rank of a given number
/// but the root, and nothing is expected of certain ranks.
bool can_be_mapped(const Algorithm& algorithm);

Task run_mapped(Group& g, const Algorithm& algorithm, Call call);

}  // namespace stretto
