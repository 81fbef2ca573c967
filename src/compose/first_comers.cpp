// First comers: whoever of a node comes first takes the message for it, and leaves it in the node's memory.
//
// `hierarchical(arrival_copy,arrival_ordered)` and `..._nonblocking` are served so: the dynamic leader of Alizadeh
// 2021, section 4.2, of whole nodes. With a fixed leader a node whose leader is late has nothing until then, though the
// others are there. Here the first comer announces the node to the root, which gives it a place among the nodes that
// are there (algorithms/bcast/served_trees.hpp); the others, whenever they come, take the message from memory. The
// root, which cannot know who will announce a node, hears of anybody. Cost: bcast/arrival_ordered.cpp among the nodes +
// two copies; after the last arrival one copy, unless it is the root or the first of its node.

#include <bit>

#include "algorithms/bcast/served_trees.hpp"
#include "algorithms/parts/nodes.hpp"
#include "algorithms/parts/segments.hpp"
#include "board/board.hpp"
#include "compose/hierarchy.hpp"

namespace stretto {
namespace bcast {
Task arrival_copy(Group& g, Call call);
}
namespace {

constexpr int kNobody = -1;

Task announce_node(Group& g, const Call& call, std::size_t segments) {
  const Introduction mine{g.board().call(), g.rank()};
  Task taken = take_place_in_tree(
      g, call, segments,
      g.send(reinterpret_cast<const std::byte*>(&mine), sizeof mine, call.root, kStreamOfAnnouncements));
  co_await taken;
}

}  // namespace

Task first_comers(Group& g, Call call) {
  if (call.count == 0) co_return;
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  const Node& own = nodes->of(g, g.rank());
  const bool has_root = own.has(call.root);
  Group unit = g.of(own.ranks, own.place_of(g.rank()));
  const std::size_t other_nodes = nodes->size() - 1;
  const bool whole = call.between->serves_announced == ServesAnnounced::whole_messages;
  const int levels = std::bit_width(static_cast<unsigned>(other_nodes) + 1);
  const std::size_t segments = whole ? 1 : pipeline_segments(g, call, levels);

  Call within = call;
  within.between = nullptr;
  within.root = has_root ? own.place_of(call.root) : kNobody;
  TaskGroup all;
  Announcements announcements;
  if (g.rank() == call.root) {
    all.spawn(hear_introductions(g, g.board().call(), other_nodes, g.board().early_arrivals(), announcements));
    all.spawn(serve_in_trees(g, call, segments, announcements, other_nodes));
  } else if (!has_root && g.board().arrive(unit) == 0) {
    Task taken = announce_node(g, call, segments);
    co_await taken;
    within.root = unit.rank();
  }
  all.spawn(bcast::arrival_copy(unit, within));
  co_await all.join();
}

}  // namespace stretto
