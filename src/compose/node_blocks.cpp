// Node blocks: the ranks of a node reduce all blocks into its memory as they come, then each speaks for the node with
// some of them.
//
// A reduce_scatter_block as node_stripes.cpp has the allreduce: `hierarchical(arrival_stripes,between)` is served so.
// When the last rank of a node has come, all of them share the work on what it has brought (board/stripes.hpp). The
// k-th ranks of all nodes are a *team*; it runs `between` on the blocks of its members, which each of them takes out of
// its node's memory. So what one node has to tell another one crosses the wire once, and not once for each of its
// ranks. Cost: for q ranks a node and blocks of n bytes, Nγ a rank, a copy of N/q + what `between` takes for such
// blocks on P/q ranks, q of them at once; after the last arrival Nγ/q in place of Nγ. Commutative operations only; a
// node's order of summation is that of arrival. All nodes have as many ranks; blocks may have lengths of their own.

#include <vector>

#include "algorithms/parts/packed_blocks.hpp"
#include "board/stripes.hpp"
#include "compose/hierarchy.hpp"
#include "compose/team.hpp"

namespace stretto {
namespace {

// All blocks as one message, side by side: where they are not so in the program's memory, a copy.
struct AllBlocks {
  PackedBlocks places;
  Call call;
  bool are_side_by_side;
  Scratch side_by_side;

  AllBlocks(Group& g, const Call& blocks)
      : places(g, blocks),
        call(blocks),
        are_side_by_side(places.are_those_of(blocks)),
        side_by_side(g.scratch(are_side_by_side ? 0 : bytes(blocks, places.all()))) {
    call.count = places.all().count;
    call.stride = 0;
    call.blocks = nullptr;
    call.output = nullptr;
    if (are_side_by_side) return;
    places.copy_in(g, blocks, side_by_side.data());
    call.input = side_by_side.data();
  }
};

// Those of some ranks, side by side.
std::vector<Block> places_of(const std::vector<int>& ranks, const Call& call) {
  std::vector<Block> places;
  places.reserve(ranks.size());
  std::size_t at = 0;
  for (const int rank : ranks) {
    places.push_back({at, block_of(call, rank).count});
    at += places.back().count;
  }
  return places;
}

}  // namespace

Task node_blocks(Group& g, Call call) {
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  const Node& own = nodes->of(g, g.rank());
  const int place = own.place_of(g.rank());
  const AllBlocks all(g, call);
  Group unit = g.of(own.ranks, place);
  Stripes chunks(unit, all.call);
  Task contribute = chunks.contribute(/*copy_finished=*/false);
  co_await contribute;
  Task finish = chunks.finish({0, chunks.chunks()});
  co_await finish;

  Team team(g, *nodes, own, static_cast<std::size_t>(place));
  const std::vector<Block> places = places_of(team.ranks, call);
  Scratch blocks = g.scratch(bytes(call, {0, places.back().first + places.back().count}));
  for (std::size_t member = 0; member < places.size(); ++member) {
    const std::byte* const theirs = chunks.in_pool(all.places.run(team.ranks[member], 1));
    g.copy(blocks.data() + offset(call, places[member]), theirs, bytes(call, places[member]));
  }
  g.board().synchronised_by_arrival();

  Call among_team = call;
  among_team.input = blocks.data();
  among_team.stride = 0;
  if (call.blocks != nullptr) among_team.blocks = places.data();
  among_team.between = nullptr;
  co_await run_algorithm(team.group, *call.between, among_team);
}

}  // namespace stretto
