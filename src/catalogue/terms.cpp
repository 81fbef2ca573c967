#include "catalogue/terms.hpp"

#include <algorithm>

#include "algorithms/parts/segment_stream.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/parts/tree_shapes.hpp"

namespace stretto {
namespace {

bool is_longer(const Hops& a, const Hops& b) { return std::pair(a.far, a.near) > std::pair(b.far, b.near); }
Hops longer(const Hops& a, const Hops& b) { return is_longer(a, b) ? a : b; }

// A rank in a tree.
struct Place {
  int parent = -1;
  Hops to_parent{};
  Hops up{};         // to the root
  Hops up_queued{};  // what is sent before along it
  Hops down{};       // the longest way to a leaf
  Hops before{};     // what its parent sends before
  Hops queued{};     // what is sent before along it
  Hops first{};      // to its first child
  Hops children{};   // to all of them
  Hops wide_down{};  // of the rank below it, or itself, that has most children
};

Hops operator+(const Hops& a, const Hops& b) { return {a.near + b.near, a.far + b.far}; }
Hops operator-(const Hops& a, const Hops& b) { return {a.near - b.near, a.far - b.far}; }
void operator+=(Hops& a, const Hops& b) { a = a + b; }
Hops operator*(double times, const Hops& a) { return {times * a.near, times * a.far}; }

// The node of each rank.
class NodesOfPlaces {
 public:
  NodesOfPlaces(const TreeShape& shape, const Terms& terms)
      : per_node_(std::max(static_cast<int>(terms.ranks_per_node), 1)),
        in_turn_(shape == kByPlaces ? 0 : terms.in_turn) {}
  int of(int rank) const { return in_turn_ > 0 ? rank % in_turn_ : rank / per_node_; }
  int per_node() const { return per_node_; }

 private:
  int per_node_;
  int in_turn_;
};

// Of each rank; a parent's number is below those of its children.
std::vector<Place> places_in(const TreeShape& shape, const Terms& terms, const NodesOfPlaces& nodes) {
  const auto ranks = static_cast<int>(terms.ranks);
  const int per_node = nodes.per_node();
  std::vector<Place> all(static_cast<std::size_t>(ranks));
  const auto at = [&](int rank) -> Place& { return all[static_cast<std::size_t>(rank)]; };
  const auto parent_of = [&](int rank) {
    if (shape != kByPlaces) return parent_in(shape, rank);
    return rank % per_node > 0 ? rank - 1 : rank - per_node;
  };
  for (int rank = 1; rank < ranks; ++rank) {
    Place& mine = at(rank);
    mine.parent = parent_of(rank);
    const bool near = nodes.of(mine.parent) == nodes.of(rank);
    mine.to_parent = near ? Hops{1, 0} : Hops{0, 1};
    mine.up = at(mine.parent).up + mine.to_parent;
    mine.before = at(mine.parent).children;
    mine.up_queued = at(mine.parent).up_queued + mine.before;
    if (mine.before.count() == 0) at(mine.parent).first = mine.to_parent;
    at(mine.parent).children = mine.before + mine.to_parent;
  }
  for (int rank = ranks - 1; rank > 0; --rank) {
    Place& parent = at(at(rank).parent);
    const Hops down = at(rank).down + at(rank).to_parent;
    const Hops queued = at(rank).queued + at(rank).before;
    const bool as_long = !is_longer(parent.down, down) && !is_longer(down, parent.down);
    if (is_longer(down, parent.down) || (as_long && is_longer(queued, parent.queued))) parent.queued = queued;
    parent.down = longer(parent.down, down);
    parent.wide_down = longer(parent.wide_down, longer(at(rank).wide_down, at(rank).children));
  }
  for (Place& mine : all) mine.wide_down = longer(mine.wide_down, mine.children);
  return all;
}

// What each rank waits for, in the mean. Where messages wait for their receiver, so does whoever sends them; a receiver
// takes those of its children one after the other.
void add_means(TreeHops& tree, const std::vector<Place>& places, bool waits) {
  const double each = 1 / static_cast<double>(places.size());
  const double waiting = waits ? each : 0;
  for (const Place& mine : places) {
    const Hops further = mine.children - mine.first;
    tree.midway += each * mine.up + waiting * mine.first;
    tree.midway_queued += each * mine.up_queued + waiting * further;
    tree.under += each * mine.down + waiting * mine.to_parent;
    tree.wide_under += each * (waits ? longer(mine.wide_down, mine.to_parent) : mine.wide_down);
    tree.rest_under += each * (mine.wide_down - mine.first);
    if (mine.parent < 0) continue;
    const Hops beside = places[static_cast<std::size_t>(mine.parent)].children - mine.to_parent;
    tree.rest_under += 0.5 * waiting * beside;
  }
}

// Messages between nodes along the tree that one node sends, or receives, whichever is most of any node.
double busiest_node(const std::vector<Place>& places, const NodesOfPlaces& nodes) {
  std::vector<int> sent(places.size());
  std::vector<int> received(places.size());
  int most = 0;
  for (std::size_t rank = 1; rank < places.size(); ++rank) {
    const auto from = static_cast<std::size_t>(nodes.of(places[rank].parent));
    const auto to = static_cast<std::size_t>(nodes.of(static_cast<int>(rank)));
    if (from != to) most = std::max({most, ++sent[from], ++received[to]});
  }
  return most;
}

}  // namespace

const TreeHops& CallTerms::tree_of(const TreeShape& shape, bool waits) {
  for (const Tree& known : trees_) {
    if (known.shape == shape && known.waits == waits) return known.hops;
  }
  const auto ranks = static_cast<int>(machine_.ranks);
  const int last = std::max(static_cast<int>(machine_.last), 1);
  const NodesOfPlaces nodes(shape, machine_);
  const std::vector<Place> places = places_in(shape, machine_, nodes);
  TreeHops tree;
  tree.busiest = busiest_node(places, nodes);
  tree.deep = places.front().down;
  tree.queued = places.front().queued;
  const double share = static_cast<double>(last) / ranks;
  for (int first = 0; first < ranks; first += last) {
    TreeHops longest;
    for (int rank = first; rank < std::min(first + last, ranks); ++rank) {
      const Place& mine = places[static_cast<std::size_t>(rank)];
      tree.children = longer(tree.children, mine.children);
      const Hops waiting = waits ? mine.to_parent : Hops{};
      longest.below = longer(longest.below, waiting + mine.down);
      longest.wide_below = longer(longest.wide_below, longer(waiting, mine.wide_down));
      longest.above = longer(longest.above, mine.up);
      longest.wide_above = longer(longest.wide_above, longer(waits ? mine.children : Hops{}, mine.to_parent));
    }
    tree.below += share * longest.below;
    tree.wide_below += share * longest.wide_below;
    tree.above += share * longest.above;
    tree.wide_above += share * longest.wide_above;
  }
  add_means(tree, places, waits);
  return trees_.emplace_back(Tree{shape, waits, tree}).hops;
}

int CallTerms::depth_of_tree(const TreeShape& shape) const {
  const auto ranks = static_cast<int>(machine_.ranks);
  if (shape != kByPlaces) return depth_of(shape, ranks);
  const int per_node = std::max(static_cast<int>(machine_.ranks_per_node), 1);
  const int nodes = (ranks + per_node - 1) / per_node;
  return nodes > 1 && nodes < ranks ? nodes + ranks / nodes : ranks - 1;
}

Terms CallTerms::of(const Algorithm& algorithm, std::size_t bytes) {
  Terms terms = machine_;
  terms.bytes = static_cast<double>(bytes);
  terms.all_bytes = terms.bytes * terms.ranks;
  const TreeShape& shape = algorithm.shape == nullptr ? kBinomial : *algorithm.shape;
  if (algorithm.shape != nullptr) {
    terms.segments =
        static_cast<double>(std::max<std::size_t>(eager_segments(plan_, bytes, bytes, depth_of_tree(shape)), 1));
    terms.sent_ahead = static_cast<double>(kSendsUnderWay);
    // With many segments all ranks of a node are busy at once.
    if (terms.segments > 1) terms.near_beta_ns = std::max(terms.near_beta_ns, terms.near_crowded_beta_ns);
  }
  static_cast<TreeHops&>(terms) = tree_of(shape, terms.waits());
  return terms;
}

}  // namespace stretto
