// Node gather: the ranks of a node leave their blocks in its memory, where its leader exchanges them for all others.
//
// An allgather as Alizadeh 2021, section 6.4.1, has the allreduce: `hierarchical(arrival_copy,between)` is served so.
// All blocks lie in each node's pool, node by node, so that leaders send from there and receive there, and each rank
// takes all of them out at once. Cost: a copy of n bytes, what `between` takes for the blocks of q ranks as one on P/q
// ranks, then Nκ. After the last arrival the same. Blocks may have lengths of their own.

#include <vector>

#include "board/arrived_blocks.hpp"
#include "compose/hierarchy.hpp"
#include "compose/team.hpp"

namespace stretto {
namespace {

// Where the blocks of a call lie in the pool. In elements.
class PlacesInPool {
 public:
  PlacesInPool(const Nodes& nodes, const Call& call) : nodes_(nodes), call_(call) {
    if (call.blocks == nullptr) return;
    firsts_.reserve(nodes.by_node().size() + 1);
    firsts_.push_back(0);
    for (const int rank : nodes.by_node()) firsts_.push_back(firsts_.back() + block_of(call, rank).count);
  }

  /// Of some ranks: `index` counts node by node.
  Block run(std::size_t index, std::size_t ranks) const {
    const std::size_t first = first_of(index);
    return {first, first_of(index + ranks) - first};
  }
  Block of_node(const Node& node) const { return run(node.before, node.ranks.size()); }
  std::vector<Block> of_nodes() const {
    std::vector<Block> blocks;
    blocks.reserve(nodes_.size());
    for (const Node& node : nodes_) blocks.push_back(of_node(node));
    return blocks;
  }

  /// To where they belong in the output: as few runs as there are.
  void copy_out(Group& g, const std::byte* pool) const {
    const std::span<const int> ranks = nodes_.by_node();
    for (std::size_t index = 0; index < ranks.size();) {
      const std::size_t to = block_of(call_, ranks[index]).first;
      std::size_t end = index + 1;
      while (end < ranks.size() && block_of(call_, ranks[end]).first == to + run(index, end - index).count) ++end;
      const Block together = run(index, end - index);
      g.copy(call_.output + to * call_.element_bytes, pool + offset(call_, together), bytes(call_, together));
      index = end;
    }
  }

 private:
  std::size_t first_of(std::size_t index) const { return firsts_.empty() ? index * call_.count : firsts_[index]; }

  const Nodes& nodes_;
  const Call& call_;
  std::vector<std::size_t> firsts_;  // where each rank has a length of its own
};

// In place in the pool, among the leaders.
Task exchange_nodes(Group& g, const Call& call, const Nodes& nodes, const Node& own, const PlacesInPool& places) {
  Team leaders(g, nodes, own, 0);
  const std::vector<Block> blocks = places.of_nodes();
  const Block mine = places.of_node(own);
  Call among_leaders = call;
  among_leaders.output = g.board().pool();
  among_leaders.input = among_leaders.output + offset(call, mine);
  among_leaders.count = mine.count;
  among_leaders.stride = 0;
  among_leaders.blocks = blocks.data();
  among_leaders.between = nullptr;
  co_await run_algorithm(leaders.group, *call.between, among_leaders);
}

}  // namespace

Task node_gather(Group& g, Call call) {
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  const Node& own = nodes->of(g, g.rank());
  const int place = own.place_of(g.rank());
  const PlacesInPool places(*nodes, call);
  Board& board = g.board();
  const Block mine = places.run(own.before + static_cast<std::size_t>(place), 1);
  g.copy(board.pool() + offset(call, mine), call.input, bytes(call, mine));
  Group unit = g.of(own.ranks, place);
  board.arrive(unit);
  if (place == 0) {
    Task all_here = as_they_arrive(unit, [](int, std::size_t) {});
    co_await all_here;
    Task between = exchange_nodes(g, call, *nodes, own, places);
    co_await between;
    board.publish(unit, board.generation().done);
  } else {
    co_await board.reached(unit, board.generation().done);
    board.synchronised();
  }
  places.copy_out(g, board.pool());
}

}  // namespace stretto
