// Node stripes: the ranks of a node reduce into its memory as they come, then each speaks for the node with a stripe.
//
// What Alizadeh 2021, section 7.2.4, plans, with as many leaders as the node has ranks: `hierarchical(arrival_stripes,
// between)` is served so. When the last rank of a node has come, all of them share the work on what it has brought
// (board/stripes.hpp). The k-th ranks of all nodes are a *team*; it runs `between` on stripe k where that lies, in
// the pool. So no rank has the whole message to reduce or to pass on, and nothing is copied on the way. Then everybody
// takes the stripes as they come back. There are as many stripes as the smallest node has ranks.
// Cost: for q ranks a node, nγ a rank + what `between` takes for n/q bytes, q of them at once, + a copy; after the last
// arrival nγ/q in its place. Commutative operations only; a node's order of summation is that of arrival.

#include "algorithms/parts/blocks.hpp"
#include "board/stripes.hpp"
#include "compose/hierarchy.hpp"
#include "compose/team.hpp"

namespace stretto {
namespace {

// One call of this rank's node.
class NodeStripes {
 public:
  NodeStripes(Group& g, const Nodes& nodes, const Node& own, std::size_t place, const Call& call)
      : unit_(g.of(own.ranks, static_cast<int>(place))),
        call_(call),
        place_(place),
        chunks_(unit_, call_, static_cast<int>(nodes.most())) {
    stripes_ = std::min(nodes.fewest(), chunks_.chunks());
    if (place_ < stripes_) team_.emplace(g, nodes, own, place_);
  }

  Task contribute() { return chunks_.contribute(/*copy_finished=*/false); }

  /// In a team: this rank's stripe of all nodes.
  Task speak(Group& g) {
    if (place_ >= stripes_) co_return;
    Task finish = chunks_.finish(even_block(chunks_.chunks(), stripes_, place_));
    co_await finish;
    Call stripe = part_of(call_, elements(place_));
    stripe.output = chunks_.in_pool(elements(place_));
    stripe.input = stripe.output;
    stripe.between = nullptr;
    co_await run_algorithm(team_->group, *call_.between, stripe);
    g.board().publish(g, returned(place_));
  }

  /// All stripes, this rank's own first.
  Task take(Group& g) {
    for (std::size_t i = 0; i < stripes_; ++i) {
      const std::size_t stripe = (place_ + i) % stripes_;
      co_await g.board().reached(g, returned(stripe));
      const Block block = elements(stripe);
      g.copy(call_.output + offset(call_, block), chunks_.in_pool(block), bytes(call_, block));
    }
  }

 private:
  Block elements(std::size_t stripe) { return chunks_.elements(even_block(chunks_.chunks(), stripes_, stripe)); }
  Signal& returned(std::size_t stripe) { return unit_.board().slot(static_cast<int>(stripe)).filled; }

  Group unit_;
  const Call& call_;
  const std::size_t place_;
  Stripes chunks_;
  std::size_t stripes_;
  std::optional<Team> team_;
};

}  // namespace

Task node_stripes(Group& g, Call call) {
  const std::shared_ptr<const Nodes> nodes = nodes_of(g);
  const Node& own = nodes->of(g, g.rank());
  NodeStripes stripes(g, *nodes, own, static_cast<std::size_t>(own.place_of(g.rank())), call);
  Task contribute = stripes.contribute();
  co_await contribute;
  Task speak = stripes.speak(g);
  co_await speak;
  Task take = stripes.take(g);
  co_await take;
  g.board().synchronised_by_arrival();
}

}  // namespace stretto
