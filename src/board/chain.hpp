// A chain in the order of arrival: each rank adds its data to what comes from its predecessor and hands it on.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Alizadeh 2021, Algorithm 5.1 without its last step: afterwards `accumulator` (n bytes, not null) of the last to
/// arrive holds the result. Returns as soon as this rank's part is done; `position` is what Board::arrive gave.
Task chain_reduce(Group& g, Call call, int position, std::byte* accumulator);

}  // namespace stretto
