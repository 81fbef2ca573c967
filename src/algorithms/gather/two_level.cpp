// Two levels: the ranks of a node give their blocks to its leader, which sends them to the root in one message.
//
// Cost: α' + (q-1) nβ' + α + (P-q) nβ, n bytes a block, q ranks a node, α' and β' inside of a node. Between nodes there
// are P/q - 1 messages where linear_nonblocking has P - q. After the last arrival, if that is not on the root's node
// and the others' blocks are in: α' + nβ' + α + q nβ.
// For several ranks a node and short blocks, whose cost is in the number of messages. Blocks that are long travel twice
// to no gain, and a late rank holds back its whole node. On one node it is linear_nonblocking. Where the ranks of a
// node are consecutive, its blocks arrive where they belong; from elsewhere the root copies them there.
// Not hierarchical(linear_nonblocking,linear_nonblocking): its root collects from its own node before it turns to the
// others, and puts blocks in order when all are in. Here it does all at once, each node's blocks as they come.

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/nodes.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {
namespace {

/// At the leader: the blocks of its node. `place(i)` is where that of the node's rank `i` goes.
template <class Place>
Task collect(Group& g, const Call& call, const Node& node, Place place) {
  Task all = serve_ranks(
      node, g.rank(), [&](std::size_t i) { return g.recv(place(i), call.bytes(), node.ranks[i]); },
      [&](std::size_t i) { g.copy(place(i), call.input, call.bytes()); });
  co_await all;
}

Task pass_on(Group& g, const Call& call, const Node& node) {
  const std::size_t n = call.bytes();
  if (node.ranks.size() == 1) {
    co_await g.send(call.input, n, call.root);
    co_return;
  }
  Scratch memory = g.scratch(node.ranks.size() * n);
  std::byte* blocks = memory.data();
  Task collected = collect(g, call, node, [&](std::size_t i) { return blocks + i * n; });
  co_await collected;
  co_await g.send(blocks, node.ranks.size() * n, call.root);
}

/// At the root: the blocks of another node. `packed` has room for them, unless they are consecutive.
Task take(Group& g, const Call& call, const Node& node, std::byte* packed) {
  const auto place = [&](int rank) { return call.output + offset(call, block_of(call, rank)); };
  const std::size_t n = call.bytes();
  const bool in_place = node.is_consecutive();
  co_await g.recv(in_place ? place(node.ranks.front()) : packed, node.ranks.size() * n, node.leader(call.root));
  for (std::size_t i = 0; i < node.ranks.size() && !in_place; ++i) g.copy(place(node.ranks[i]), packed + i * n, n);
}

Task take_all(Group& g, const Call& call, const Nodes& nodes) {
  const Node& own = nodes.of(g, call.root);
  const auto place = [&](std::size_t i) { return call.output + offset(call, block_of(call, own.ranks[i])); };
  Task all = serve_nodes(g, call, nodes, &take, collect(g, call, own, place));
  co_await all;
}

}  // namespace

Task two_level(Group& g, Call call) {
  const int leader = leader_of(g, call.root, g.rank());
  if (g.rank() != leader) {
    co_await g.send(call.input, call.bytes(), leader);
    co_return;
  }
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  // Named before it is awaited: GCC 12 destroys what a conditional expression made too early.
  Task task = leader == call.root ? take_all(g, call, *nodes) : pass_on(g, call, nodes->of(g, leader));
  co_await task;
}

using namespace letters;

extern constinit const Description two_level_described{
    .collective = Collective::gather,
    .name = "two_level",
    .run = &two_level,
    .summary = "one message from each node, whose leader collects the blocks",
    .source = "Stretto",
    .cost = {.balanced = 2 * alpha + N * beta, .after_last = 2 * alpha + (q + 1) * n * beta},
};

}  // namespace stretto::gather
