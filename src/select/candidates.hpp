// Candidates: the algorithms between nodes that are the best for some machines, lengths and numbers of ranks, by name.
#pragma once

#include <span>
#include <string_view>

#include "core/collective.hpp"

namespace stretto {

using Names = std::span<const std::string_view>;

/// Those of messages alone; `shares_nodes`: some node has several ranks. Of two that cost the same the first is better.
Names worth_considering(Collective collective, bool shares_nodes);
/// Those in the memory of nodes with several ranks.
Names worth_considering_in_memory(Collective collective);
/// Beside those, where some ranks come late: what sends to whoever has come.
Names worth_considering_for_late_ranks(Collective collective, bool in_memory);
/// What MPICH and Open MPI have of such a collective, of all of these (Thakur, Rabenseifner and Gropp 2005).
Names known_everywhere(Collective collective, int ranks);

}  // namespace stretto
