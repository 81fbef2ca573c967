// The catalogue: every algorithm describes itself in its file, and conformance tests, benchmark, selector, command line
// and documentation read it from here.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "compose/hierarchy.hpp"
#include "compose/mapping.hpp"
#include "compose/pipelining.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto {

/// All that have a file, by collective, file and variant; the same in every process.
std::span<const Algorithm> algorithms();

/// nullptr if there is none of that name. One that is derived from another is made when first asked for: a name of the
/// catalogue, then `@` and a map of ranks (compose/mapping.hpp), then `+` and segments (compose/pipelining.hpp), of
/// which either may be missing: `ring@topology+4`; or `hierarchical(binomial,ring)` (compose/hierarchy.hpp) and perhaps
/// segments. The MPI library's own in segments, `native+4`, has no `run`.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

/// Those of the catalogue and the derived ones that have been asked for, by Algorithm::number; those of the former are
/// the same in every process. Numbers are below kMostAlgorithms.
inline constexpr std::size_t kMostAlgorithms = 512;
std::size_t algorithm_count();
const Algorithm& algorithm_numbered(std::size_t number);

}  // namespace stretto
