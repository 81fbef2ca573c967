// Waitall tree: a segment goes to all children at once, and the next is not looked at before all of them have it.
//
// What Luo et al. 2018 call non-blocking point-to-point with Waitall, the usual way to write a pipelined tree: the
// baseline of event_tree. The next receive is posted ahead. A late rank holds up its parent, so its siblings and in the
// end everybody.
// Cost: (depth + m c) (α + nβ/m) in m segments for c children.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/parts/tree_shapes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {
Task waitall_tree(Group& g, Call call) {
  const TreeShape shape = *call.shape;
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
    const Call current = part(segment);
    for (int child : place.children) {
      sends.push_back(g.send(current.output, current.bytes(), child));
      sends.back().start();
    }
    for (Transfer& send : sends) co_await send;
  }
}

using namespace letters;

extern constinit const Description waitall_tree_described{
    .collective = Collective::bcast,
    .run = &waitall_tree,
    .summary = "segments go down {}, to all children before the next",
    .source = "Luo et al. 2018",
    .cost = both((depth + m * c) * (alpha + n * beta / m)),
    .variants =
        {
            {.name = "waitall_chain", .shape = &kChain},
            {.name = "waitall_binary", .shape = &kBinary},
            {.name = "waitall_binomial", .shape = &kBinomial},
            {.name = "waitall_knomial", .shape = &kQuadrinomial},
        },
};

}  // namespace stretto::bcast
