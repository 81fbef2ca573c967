// Waitall tree: a segment goes to all children at once, and the next is not looked at before all of them have it.
//
// What Luo et al. 2018 call non-blocking point-to-point with Waitall, the usual way to write a pipelined tree: the
// baseline of event_tree. The next receive is posted ahead. A late rank holds up its parent, so its siblings and in the
// end everybody.
// Cost: (depth + m c) (α + nβ/m) in m segments for c children.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/segments.hpp"
#include "algorithms/patterns/tree_shapes.hpp"

namespace stretto::bcast {
namespace {

Task broadcast(Group& g, Call call, TreeShape shape) {
  if (call.count == 0) co_return;
  const TreePlace place = place_in(shape, g.rank(), call.root, g.size());
  const std::size_t segments = eager_segments(g, call, depth_of(shape, g.size()));
  const auto part = [&](std::size_t segment) { return part_of(call, even_block(call.count, segments, segment)); };
  std::vector<Transfer> receives;
  receives.reserve(segments);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < segments; ++segment) {
    while (place.parent >= 0 && receives.size() < std::min(segment + 2, segments)) {
      const Call next = part(receives.size());
      receives.push_back(g.recv(next.output, next.bytes(), place.parent));
      receives.back().start();
    }
    if (place.parent >= 0) {
      Transfer& receive = receives[segment];
      co_await receive;
    }
    std::vector<Transfer> sends;
    sends.reserve(place.children.size());
    const Call here = part(segment);
    for (int child : place.children) {
      sends.push_back(g.send(here.output, here.bytes(), child));
      sends.back().start();
    }
    for (Transfer& send : sends) co_await send;
  }
}

}  // namespace

Task waitall_chain(Group& g, Call call) { return broadcast(g, call, kChain); }
Task waitall_binary(Group& g, Call call) { return broadcast(g, call, kBinary); }
Task waitall_binomial(Group& g, Call call) { return broadcast(g, call, kBinomial); }
Task waitall_knomial(Group& g, Call call) { return broadcast(g, call, kQuadrinomial); }

}  // namespace stretto::bcast
