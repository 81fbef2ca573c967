// Into how many segments to cut a message that several ranks pass on.
#pragma once

#include <algorithm>

#include "core/group.hpp"

namespace stretto {

/// The last rank has everything after (segments + hops)(α + nβ / segments), which is least at √(hops nβ / α) segments.
/// At most one an element, none for an empty message.
inline std::size_t pipeline_segments(const Costs& costs, std::size_t bytes, std::size_t count, int hops) {
  const std::int64_t alpha_ns = std::max<std::int64_t>(costs.alpha_ns, 1);
  const std::int64_t square = hops * costs.wire_ns(bytes) / alpha_ns;
  std::int64_t segments = 1;
  while ((segments + 1) * (segments + 1) <= square) ++segments;
  return std::min(static_cast<std::size_t>(segments), count);
}
inline std::size_t pipeline_segments(const Group& g, const Call& call, int hops) {
  return pipeline_segments(g.costs(), call.bytes(), call.count, hops);
}

/// The same, with none longer than what leaves before its receiver is ready: so many that those under way at a time
/// fill the wire.
inline std::size_t eager_segments(const Costs& costs, std::size_t bytes, std::size_t count, int hops) {
  const std::size_t longest = std::max<std::size_t>(costs.eager_bytes, 1);
  const std::size_t eager = (bytes + longest - 1) / longest;
  return std::min(std::max(pipeline_segments(costs, bytes, count, hops), eager), count);
}
inline std::size_t eager_segments(const Group& g, const Call& call, int hops) {
  return eager_segments(g.costs(), call.bytes(), call.count, hops);
}

}  // namespace stretto
