// Two levels: the root sends each node the blocks of its ranks in one message; the node's leader hands them out.
//
// Cost: α + (P-q) nβ + α' + (q-1) nβ', n bytes a block, q ranks a node, α' and β' inside of a node. Between nodes there
// are P/q - 1 messages where linear_nonblocking has P - q. After the last arrival, if that is the leader of a node
// other than the root's: α + q nβ + α' + (q-1) nβ'; if it is any other rank but the root: α' + nβ'. For several ranks a
// node and short blocks, whose cost is in the number of messages. Blocks that are long travel twice to no gain, and a
// late leader holds up its whole node. On one node it is linear_nonblocking. Where the ranks of a node are consecutive,
// its blocks leave from where they are; others the root packs first.
// Not hierarchical(linear_nonblocking,linear_nonblocking): its root packs all before it sends any, and serves its own
// node last. Here it does all at once, and a node whose blocks are packed need not wait for another's.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/nodes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::scatter {
namespace {

/// At the leader: the blocks of its node. `place(i)` is where that of the node's rank `i` is.
template <class Place>
Task hand_out(Group& g, const Call& call, const Node& node, Place place) {
  Task all = serve_ranks(
      node, g.rank(), [&](std::size_t i) { return g.send(place(i), call.bytes(), node.ranks[i]); },
      [&](std::size_t i) { g.copy(call.output, place(i), call.bytes()); });
  co_await all;
}

Task pass_on(Group& g, const Call& call, const Node& node) {
  const std::size_t n = call.bytes();
  if (node.ranks.size() == 1) {
    co_await g.recv(call.output, n, call.root);
    co_return;
  }
  Scratch memory = g.scratch(node.ranks.size() * n);
  std::byte* blocks = memory.data();
  co_await g.recv(blocks, node.ranks.size() * n, call.root);
  Task handed_out = hand_out(g, call, node, [&](std::size_t i) { return blocks + i * n; });
  co_await handed_out;
}

/// At the root: the blocks of another node. `packed` has room for them, unless they are consecutive.
Task give(Group& g, const Call& call, const Node& node, std::byte* packed) {
  const auto place = [&](int rank) { return call.input + offset(call, block_of(call, rank)); };
  const std::size_t n = call.bytes();
  const bool in_place = node.is_consecutive();
  for (std::size_t i = 0; i < node.ranks.size() && !in_place; ++i) g.copy(packed + i * n, place(node.ranks[i]), n);
  co_await g.send(in_place ? place(node.ranks.front()) : packed, node.ranks.size() * n, node.leader(call.root));
}

Task give_all(Group& g, const Call& call, const Nodes& nodes) {
  const Node& own = nodes.of(g, call.root);
  const auto place = [&](std::size_t i) { return call.input + offset(call, block_of(call, own.ranks[i])); };
  Task all = serve_nodes(g, call, nodes, &give, hand_out(g, call, own, place));
  co_await all;
}

}  // namespace

Task two_level(Group& g, Call call) {
  const int leader = leader_of(g, call.root, g.rank());
  if (g.rank() != leader) {
    co_await g.recv(call.output, call.bytes(), leader);
    co_return;
  }
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  // Named before it is awaited: GCC 12 destroys what a conditional expression made too early.
  Task task = leader == call.root ? give_all(g, call, *nodes) : pass_on(g, call, nodes->of(g, leader));
  co_await task;
}

using namespace letters;

extern constinit const Description two_level_described{
    .collective = Collective::scatter,
    .name = "two_level",
    .run = &two_level,
    .summary = "one message to each node, whose leader hands out the blocks",
    .source = "Stretto",
    .cost = {.balanced = 2 * alpha + N * beta, .after_last = 2 * alpha + 2 * q * n * beta},
};

}  // namespace stretto::scatter
