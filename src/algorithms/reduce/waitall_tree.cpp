// Waitall tree: all children's contributions to a segment are awaited, combined and sent up before the next segment is
// looked at.
//
// What Luo et al. 2018 call non-blocking point-to-point with Waitall: the baseline of event_tree. The next segment's
// receives are posted ahead. For commutative operations.
// Cost: (depth + m c) (α + nβ/m) + nγ c in m segments for c children.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/parts/tree_shapes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
Task waitall_tree(Group& g, Call call) {
  const TreeShape shape = *call.shape;
  if (call.count == 0) co_return;
  const TreePlace place = place_in(shape, g.rank(), call.root, g.size());
  const std::size_t segments = eager_segments(g, call, depth_of(shape, g.size()));
  const std::size_t children = place.children.size();
  const auto block = [&](std::size_t segment) { return even_block(call.count, segments, segment); };
  const std::size_t longest = bytes(call, block(0));
  Scratch memory = g.scratch(2 * children * longest);
  const auto theirs = [&](std::size_t i) { return memory.data() + i % (2 * children) * longest; };
  Scratch own = g.scratch(call.output == nullptr ? call.bytes() : 0);  // only the root owns an output buffer
  std::byte* sum = call.output != nullptr ? call.output : own.data();
  g.copy(sum, call.input, call.bytes());

  std::vector<Transfer> receives;         // of all children, segment by segment
  receives.reserve(segments * children);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < segments; ++segment) {
    while (receives.size() < std::min(segment + 2, segments) * children) {
      const std::size_t next = receives.size();
      receives.push_back(g.recv(theirs(next), bytes(call, block(next / children)), place.children[next % children]));
      receives.back().start();
    }
    const Block now = block(segment);
    for (std::size_t i = segment * children; i < (segment + 1) * children; ++i) {
      Transfer& receive = receives[i];
      co_await receive;
    }
    for (std::size_t i = segment * children; i < (segment + 1) * children; ++i)
      g.reduce(call, theirs(i), sum + offset(call, now), now.count);
    if (place.parent >= 0) co_await g.send(sum + offset(call, now), bytes(call, now), place.parent);
  }
}

using namespace letters;

extern constinit const Description waitall_tree_described{
    .collective = Collective::reduce,
    .run = &waitall_tree,
    .needs = {.commutative = true},
    .summary = "segments go up {}, from all children before the next",
    .source = "Luo et al. 2018",
    .cost = {.balanced = (depth + m * c) * (alpha + n * beta / m) + c * n * gamma,
             .after_last = (depth + m * c) * (alpha + n * beta / m)},
    .variants =
        {
            {.name = "waitall_chain", .shape = &kChain},
            {.name = "waitall_binary", .shape = &kBinary},
            {.name = "waitall_binomial", .shape = &kBinomial},
            {.name = "waitall_knomial", .shape = &kQuadrinomial},
        },
};

}  // namespace stretto::reduce
