// Into how many segments to cut a message that several ranks pass on.
#pragma once

#include <algorithm>

#include "core/group.hpp"

namespace stretto {

/// The last rank has everything after (segments + hops)(α + nβ / segments), which is least at √(hops nβ / α) segments.
/// At most one an element, none for an empty message.
inline std::size_t pipeline_segments(const Group& g, const Call& call, int hops) {
  const std::int64_t alpha_ns = std::max<std::int64_t>(g.costs().alpha_ns, 1);
  const std::int64_t square = hops * g.costs().wire_ns(call.bytes()) / alpha_ns;
  std::int64_t segments = 1;
  while ((segments + 1) * (segments + 1) <= square) ++segments;
  return std::min(static_cast<std::size_t>(segments), call.count);
}

/// The longest segment that MPI libraries send without asking the receiver: up to 64 KiB with their own header over TCP
/// (Open MPI 4.1, btl_tcp_eager_limit). Longer ones wait for an answer that stands in line behind other segments: on 8
/// emulated nodes, 8 MB along a chain take 82 ms in segments of 60 KiB and 106 ms in segments of 96 KiB
/// (bench/experiments/pipelining.py).
inline constexpr std::size_t kEagerBytes = std::size_t{56} << 10;

/// The same, with none longer than kEagerBytes: so many that those under way at a time fill the wire.
inline std::size_t eager_segments(const Group& g, const Call& call, int hops) {
  const std::size_t eager = (call.bytes() + kEagerBytes - 1) / kEagerBytes;
  return std::min(std::max(pipeline_segments(g, call, hops), eager), call.count);
}

}  // namespace stretto
