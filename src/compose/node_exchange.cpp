// Node exchange: blocks go to the rank of the other node that has the same place, and from there through its memory.
//
// An alltoall in two steps, as on a grid of nodes and places: `hierarchical(arrival_copy,between)` is served so. The
// k-th ranks of all nodes are a *team*; it runs `between` on what they have for each other's nodes, q blocks at a time,
// and each leaves what it has got in the memory of its node. There its mates take their own as it comes. So a rank
// sends P/q messages and not P, without waiting for its mates, and a late rank holds up its team's messages alone. Cost
// for q ranks a node and N bytes a rank: what `between` takes for blocks of qn bytes on P/q ranks, q of them at once, +
// a copy of N, block by block; another one before it where the blocks of a node are not side by side. All nodes have as
// many ranks.

#include "algorithms/parts/blocks.hpp"
#include "board/arrived_blocks.hpp"
#include "compose/hierarchy.hpp"
#include "compose/team.hpp"

namespace stretto {
namespace {

// A rank's blocks node by node.
class BlocksByNode {
 public:
  BlocksByNode(Group& g, const Nodes& nodes, const Call& call)
      : packed_(g.scratch(are_so_in(call, nodes) ? 0 : static_cast<std::size_t>(g.size()) * call.bytes())),
        data_(call.input) {
    if (are_so_in(call, nodes)) return;
    std::byte* to = packed_.data();
    data_ = to;
    for (const Node& node : nodes) {
      for (const int rank : node.ranks) {
        g.copy(to, call.input + offset(call, block_of(call, rank)), call.bytes());
        to += call.bytes();
      }
    }
  }
  const std::byte* data() const { return data_; }

 private:
  static bool are_so_in(const Call& call, const Nodes& nodes) {
    return call.stride <= call.count && nodes.are_consecutive();
  }

  Scratch packed_;
  const std::byte* data_;
};

}  // namespace

Task node_exchange(Group& g, Call call) {
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  const Node& own = nodes->of(g, g.rank());
  const int place = own.place_of(g.rank());
  const std::size_t q = own.ranks.size();
  const std::size_t n = call.bytes();
  // What the mate with place `mate` has got, by the node and place that it is from and for.
  const auto left_by = [&](int mate, std::size_t node, int for_place) {
    std::byte* all = g.board().block_data(mate, static_cast<std::size_t>(g.size()) * n);
    return all + (node * q + static_cast<std::size_t>(for_place)) * n;
  };

  const BlocksByNode blocks(g, *nodes, call);
  Team team(g, *nodes, own, static_cast<std::size_t>(place));
  Call among_team = call;
  among_team.input = blocks.data();
  among_team.output = left_by(place, 0, 0);
  among_team.count = q * call.count;
  among_team.stride = 0;
  among_team.between = nullptr;
  co_await run_algorithm(team.group, *call.between, among_team);

  Group unit = g.of(own.ranks, place);
  g.board().arrive(unit);
  const auto take = [&](int mate, std::size_t = 0) {
    std::size_t from = 0;
    for (const Node& node : *nodes) {
      const int rank = node.ranks[static_cast<std::size_t>(mate)];
      g.copy(call.output + offset(call, output_block_of(call, rank)), left_by(mate, from++, place), n);
    }
  };
  take(place);
  Task copies = as_they_arrive(unit, take);
  co_await copies;
}

}  // namespace stretto
