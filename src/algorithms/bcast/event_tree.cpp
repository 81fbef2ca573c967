// Event-driven tree: a segment goes on to a child as soon as it is here and that child has room, whatever the others
// do.
//
// Luo et al. 2018 (ADAPT), over a chain, a binary, a binomial, a 4-nomial and a flat tree, and one by places. What
// ADAPT writes as callbacks that post each other's messages are coroutines here, one for the parent's stream of
// segments and one for each child's: the next segment is received while this one is sent on (segment independence), and
// a slow child holds up no other (child independence), so a late rank delays its descendants only. Of each stream a few
// messages are under way, receives posted ahead and sends. Where ADAPT's first segment is synchronous, a child says
// that it is there if there are many segments, so that a rank that has not come is not flooded. Cost: (depth + m c) (α
// + nβ/m) in m segments for c children; after the last arrival, if that is a leaf: m (α + nβ/m).

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/segment_stream.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/parts/topology_tree.hpp"
#include "algorithms/parts/tree_shapes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {
namespace {

struct Flow {
  std::size_t segments;
  Signal received{};  // how many segments, in order
};

Call segment_of(const Call& call, const Flow& flow, std::size_t segment) {
  return part_of(call, even_block(call.count, flow.segments, segment));
}

Task from_parent(Group& g, const Call& call, Flow& flow, int parent) {
  Transfer announcement = g.send(nullptr, 0, parent);
  if (is_announced(flow.segments)) announcement.start();
  std::vector<Transfer> receives;
  receives.reserve(flow.segments);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < flow.segments; ++segment) {
    while (receives.size() < std::min(segment + kReceivesAhead, flow.segments)) {
      const Call next = segment_of(call, flow, receives.size());
      receives.push_back(g.recv(next.output, next.bytes(), parent));
      receives.back().start();
    }
    Transfer& receive = receives[segment];
    co_await receive;
    g.publish(flow.received, segment + 1);
  }
  if (is_announced(flow.segments)) co_await announcement;
}

Task to_child(Group& g, const Call& call, Flow& flow, int child) {
  return send_segments(g, child, flow.segments, flow.received, [&call, &flow](std::size_t segment) {
    const Call part = segment_of(call, flow, segment);
    return std::span<const std::byte>(part.output, part.bytes());
  });
}

Task broadcast(Group& g, Call call, TreePlace place, int depth) {
  if (call.count == 0) co_return;
  Flow flow{eager_segments(g, call, depth)};
  TaskGroup streams;
  if (place.parent < 0) {
    g.publish(flow.received, flow.segments);
  } else {
    streams.spawn(from_parent(g, call, flow, place.parent));
  }
  for (int child : place.children) streams.spawn(to_child(g, call, flow, child));
  co_await streams.join();
}

}  // namespace

Task event_tree(Group& g, Call call) {
  if (*call.shape == kByPlaces) {
    const TopologyTree tree = topology_tree(g, call.root);
    return broadcast(g, call, tree.place, tree.depth);
  }
  return broadcast(g, call, place_in(*call.shape, g.rank(), call.root, g.size()), depth_of(*call.shape, g.size()));
}

using namespace letters;

constexpr Formula kLaterSegments = (m - 1) * (fan(n / m) + (1 - s) * (c - 1) * n * beta / m);

extern constinit const Description event_tree_described{
    .collective = Collective::bcast,
    .run = &event_tree,
    .summary = "segments go down {} as they come, to each child by itself",
    .source = "Luo et al. 2018",
    .cost = {.balanced = deep(n / m) + queue(n / m) + kLaterSegments,
             .after_last = below(n / m) + (m - 1) * fan_below(n / m) + s * any(0),
             .mean = midway(n / m) + kLaterSegments,
             .waiting = d / P},
    .variants =
        {
            {.name = "event_chain", .shape = &kChain},
            {.name = "event_binary", .shape = &kBinary},
            {.name = "event_binomial",
             .shape = &kBinomial,
             .balanced = deep(n / m) + queue(n / m) + (m - 1) * fan(n / m)},
            {.name = "event_knomial", .shape = &kQuadrinomial},
            {.name = "event_linear",
             .shape = &kFlat,
             .balanced = deep(0) + one_by_one,
             .after_last = (any(0) + one_by_one) / P + w * any(n),
             .mean = any(0) * (P - 1 + w) / P + one_by_one * (1 - 1 / m / 2)},
            {.name = "event_topology", .shape = &kByPlaces},
        },
};

}  // namespace stretto::bcast
