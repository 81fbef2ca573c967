// Event-driven tree: a segment goes up as soon as all children's contributions to it are in, whatever their order.
//
// Luo et al. 2018 (ADAPT), over a chain, a binary, a binomial, a 4-nomial and a flat tree, and one by places: a
// coroutine for each child's stream of segments and one for the parent's, as in the broadcast of that name.
// Contributions to a segment are combined as they come or, where the operation wants it, in the order of ranks; then
// the tree is built from rank 0, with one more message to another root. Of each stream a few messages are under way. Of
// many segments a child sends the first when its parent has said that it is there. Cost: (depth + m c) (α + nβ/m) + nγ
// c in m segments for c children; after the last arrival, if that is a leaf: depth (α + nβ/m + nγ/m) + m (α + nβ/m).

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/segment_stream.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/parts/topology_tree.hpp"
#include "algorithms/parts/tree_shapes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
namespace {

struct Flow {
  std::size_t segments;
  std::size_t children;
  std::byte* sum;                    // of what has come
  std::vector<std::size_t> added{};  // for each segment: of how many children
  Signal complete{};                 // how many segments hold all contributions, in order

  Block block(const Call& call, std::size_t segment) const { return even_block(call.count, segments, segment); }
};

/// Child `number`'s contributions, with `before` telling of those of the child before it, if the order matters.
Task from_child(Group& g, const Call& call, Flow& flow, int child, Signal* before, Signal& mine) {
  Transfer announcement = g.send(nullptr, 0, child);
  if (is_announced(flow.segments)) announcement.start();
  const std::size_t longest = bytes(call, flow.block(call, 0));
  const std::size_t ahead = std::min(kReceivesAhead, flow.segments);
  Scratch memory = g.scratch(ahead * longest);
  std::vector<Transfer> receives;
  receives.reserve(flow.segments);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < flow.segments; ++segment) {
    while (receives.size() < std::min(segment + ahead, flow.segments)) {
      const std::size_t next = receives.size();
      std::byte* place = memory.data() + next % ahead * longest;
      receives.push_back(g.recv(place, bytes(call, flow.block(call, next)), child));
      receives.back().start();
    }
    Transfer& receive = receives[segment];
    co_await receive;
    if (before != nullptr) co_await g.reached(*before, segment + 1);
    const Block block = flow.block(call, segment);
    std::byte* theirs = memory.data() + segment % ahead * longest;
    std::byte* sum = flow.sum + offset(call, block);
    if (call.reduction->commutative) {
      g.reduce(call, theirs, sum, block.count);
    } else {  // children hold higher ranks: theirs is the right-hand operand
      g.reduce(call, sum, theirs, block.count);
      g.copy(sum, theirs, bytes(call, block));
    }
    g.publish(mine, segment + 1);
    if (++flow.added[segment] == flow.children) g.publish(flow.complete, segment + 1);
  }
  if (is_announced(flow.segments)) co_await announcement;
}

Task to_parent(Group& g, const Call& call, Flow& flow, int parent) {
  return send_segments(g, parent, flow.segments, flow.complete, [&call, &flow](std::size_t segment) {
    const Block block = flow.block(call, segment);
    return std::span<const std::byte>(flow.sum + offset(call, block), bytes(call, block));
  });
}

Task climb(Group& g, Call call, int top, TreePlace place, int depth) {
  if (call.count == 0) co_return;
  // Only the root owns an output buffer.
  Scratch memory = g.scratch(call.output == nullptr ? call.bytes() : 0);
  Flow flow{eager_segments(g, call, depth), place.children.size(),
            call.output != nullptr ? call.output : memory.data()};
  flow.added.resize(flow.segments);
  g.copy(flow.sum, call.input, call.bytes());
  if (place.children.empty()) g.publish(flow.complete, flow.segments);

  std::vector<Signal> added(place.children.size());
  TaskGroup streams;
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    Signal* before = i > 0 && !call.reduction->commutative ? &added[i - 1] : nullptr;
    streams.spawn(from_child(g, call, flow, place.children[i], before, added[i]));
  }
  if (place.parent >= 0) streams.spawn(to_parent(g, call, flow, place.parent));
  co_await streams.join();

  if (top != call.root && g.rank() == top) co_await g.send(flow.sum, call.bytes(), call.root);
  if (top != call.root && g.rank() == call.root) co_await g.recv(call.output, call.bytes(), top);
}

}  // namespace

Task event_tree(Group& g, Call call) {
  if (*call.shape == kByPlaces) {
    const TopologyTree tree = topology_tree(g, call.root);
    return climb(g, call, call.root, tree.place, tree.depth);
  }
  const int top = call.reduction->commutative ? call.root : 0;
  return climb(g, call, top, place_in(*call.shape, g.rank(), top, g.size()), depth_of(*call.shape, g.size()));
}

using namespace letters;

extern constinit const Description event_tree_described{
    .collective = Collective::reduce,
    .run = &event_tree,
    .summary = "segments go up {} as contributions come, from each child by itself",
    .source = "Luo et al. 2018",
    .cost = {.balanced =
                 deep(n / m) + depth * n * gamma / m + (m * c - 1) * n * max(beta, gamma) / m + (c - 1) * g + n * kappa,
             .after_last = above(n / m) + (m - 1) * max(fan_above(n / m), n* gamma / m) + depth * n * gamma / m / 2 +
                           n * kappa + w * any(0),
             .mean = under(n / m) + rest_under(n / m) + (m - 1) * fan_under(n / m) + n * kappa + s * any(0),
             .waiting = d / P},
    .variants =
        {
            {.name = "event_chain", .shape = &kChain},
            {.name = "event_binary",
             .shape = &kBinary,
             .needs = Needs{.commutative = true},
             .sums = Sums::as_they_come},
            // The children with small sub-trees are through when the others come.
            {.name = "event_binomial",
             .shape = &kBinomial,
             .sums = Sums::as_they_come,
             .balanced = max(deep(n / m) + depth * n * gamma / m, (c - 1) * n * max(beta, gamma)) +
                         (m - 1) * n * max(beta, gamma) / m + n * kappa},
            {.name = "event_knomial", .shape = &kQuadrinomial, .sums = Sums::as_they_come},
            {.name = "event_linear",
             .shape = &kFlat,
             .sums = Sums::as_they_come,
             .after_last =
                 above(n / m) + (m - 1) * max(fan_above(n / m), n* gamma / m) + n * gamma / m + n * kappa + w * any(0),
             .mean =
                 (deep(0) + (P - 1) * (g + n * max(beta, gamma))) * ((1 - w) / P + w * (1 - 1 / m / 2)) + n * kappa},
            {.name = "event_topology",
             .shape = &kByPlaces,
             .needs = Needs{.commutative = true},
             .sums = Sums::as_they_come},
        },
};

}  // namespace stretto::reduce
