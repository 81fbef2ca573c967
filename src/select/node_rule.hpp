// The rule of one node, whose ranks have memory in common.
//
// Its borders between few bytes and many, and between few ranks and many, are those of one machine. Where more ranks
// than it was measured with take part, what calls take decides (select/adaptation.hpp): between the MPI library's own,
// what the rule names, and what it would name were its borders elsewhere.
#pragma once

#include <array>
#include <cstddef>

#include "select/rules.hpp"

namespace stretto {

/// What serves the call; nullptr: the MPI library. CallFacts::candidate: from 1 on what would with other borders, as
/// far as there is such; else what serves.
const Algorithm* node_rule(const CallFacts& facts);

/// How many candidates there are, of operations that commute, by class of arrivals: one at least.
std::array<int, kArrivalClasses> node_candidates(Collective collective, std::size_t bytes, int ranks);

/// Whether it may name an algorithm.
bool node_rule_may_serve(Collective collective, std::size_t bytes, int ranks);

/// Whether it was measured with so many ranks.
bool node_rule_is_measured(int ranks);

}  // namespace stretto
