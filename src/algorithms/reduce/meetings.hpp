// Meetings: a schedule of who hands its partial result to whom, from the times at which the ranks are expected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/costs.hpp"

namespace stretto {

/// Two partial results of a segment become one: `sender` hands its own over, `receiver` reduces both.
struct Meeting {
  std::size_t segment;
  int sender;
  int receiver;
};

/// Lets time run ahead: as soon as two partials of a segment are ready and the links between them are free, they meet,
/// those first that have been ready longest, and the later one receives. Of few segments this is Huffman's
/// construction; many share out the links. The root always receives, and meets others only while no others can meet
/// each other. In the order of time, in integers: from the same arguments every rank has the same schedule.
std::vector<Meeting> plan_meetings(std::span<const std::int64_t> expected_ns, int root, std::size_t segments,
                                   std::size_t segment_bytes, const Costs& costs);

}  // namespace stretto
