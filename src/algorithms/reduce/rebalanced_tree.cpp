// Rebalanced tree: binomial, but siblings whose parent is late combine, and hand it one partial result when it comes.
//
// Marendic, Lemeire, Haber, Vucinic, Schelkens 2012, as Alizadeh 2021, section 5.2, describes it. That paper is not at
// hand; the notices are ours. A rank is complete when its sub-tree's partials are in.
// - A parent that has come says `here` to each child. When complete, it answers `mine` and its partial, or `given`.
// - A child, once it is complete or has heard its parent, says to its next larger sibling `waiting` (complete, and no
//   parent heard) or `served`. To `waiting` the sibling, once one of the two is true of itself, replies `take`
//   (complete, no parent heard, not given) or `pass`. To `take` the child answers `mine` and its partial, or `given`.
// A partial is given once, to whoever asks first, and not while a smaller sibling's is being taken in. Every notice has
// its receive, whatever happens first. Nobody waits in a circle: `here`, `waiting` or `served`, `take` or `pass` wait
// for ranks to come and for sub-trees; answers wait for partials of smaller siblings besides, never for larger ones.
// Cost: balanced log2(P) (3α + nβ + nγ). A late rank with k children takes in one partial where binomial takes in k,
// and one more for each child that was complete after the next larger one. For long messages and arrivals that nobody
// knows ahead; not for short ones, as notices cost latencies. A rank that has given stays until its neighbours among
// the siblings have come. Commutative operations only; the order of summation is that of the events.
// Longer than other algorithms by its notices, seven kinds, without which a sibling could not tell whom to serve.

#include "algorithms/parts/trees.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
namespace {

enum class Notice : std::uint8_t { arrived, mine, given, waiting, served, take, pass };

class RebalancedTree {
 public:
  RebalancedTree(Group& g, const Call& call)
      : g_(g),
        call_(call),
        me_(relative_rank(g.rank(), call.root, g.size())),
        up_(parent_distance(me_, g.size())),
        memory_(g.scratch(me_ == 0 ? 0 : call.bytes())),
        accumulator_(me_ == 0 ? call.output : memory_.data()),
        partial_(call.input) {}

  void spawn_all(TaskGroup& all) {
    const int p = g_.size();
    for (int distance = 1; distance < up_ && me_ + distance < p; distance *= 2, ++children_)
      all.spawn(take_in_child(rank_of(me_ + distance)));
    if (me_ == 0) return;
    const int parent = me_ - up_;
    all.spawn(hear_parent(rank_of(parent)));
    all.spawn(be_complete());
    all.spawn(serve_parent(rank_of(parent)));
    if (up_ > 1) all.spawn(answer_smaller(rank_of(me_ - up_ / 2)));
    const int larger = me_ + up_;
    if (larger < p && 2 * up_ < parent_distance(parent, p)) all.spawn(tell_larger(rank_of(larger)));
  }

 private:
  int rank_of(int relative) const { return absolute_rank(relative, call_.root, g_.size()); }
  bool heard_parent() const { return parent_here_.reached(1); }
  Transfer say(const Notice& notice, int to) {
    return g_.send(reinterpret_cast<const std::byte*>(&notice), sizeof notice, to);
  }
  Transfer hear(Notice& notice, int from) {
    return g_.recv(reinterpret_cast<std::byte*>(&notice), sizeof notice, from);
  }

  Task take_in(int from) {
    Notice notice{};
    co_await hear(notice, from);
    if (notice == Notice::given) co_return;
    Scratch theirs = g_.scratch(call_.bytes());
    Transfer data = g_.recv(theirs.data(), call_.bytes(), from);
    data.start();
    g_.copy(accumulator_, partial_, call_.bytes());  // the first time my own data, while theirs are on their way
    partial_ = accumulator_;
    co_await data;
    g_.reduce(call_, theirs.data(), accumulator_, call_.count);
  }

  Task give(int to) {
    if (taking_) co_await g_.reached(taken_, 1);
    const Notice notice = given_ ? Notice::given : Notice::mine;
    given_ = true;
    co_await say(notice, to);
    if (notice == Notice::mine) co_await g_.send(partial_, call_.bytes(), to);
  }

  Task take_in_child(int child) {
    const Notice notice = Notice::arrived;
    co_await say(notice, child);
    co_await take_in(child);
    g_.publish(children_in_, children_in_.value.load(std::memory_order_relaxed) + 1);
  }
  Task hear_parent(int parent) {
    Notice notice{};
    co_await hear(notice, parent);
    g_.publish(parent_here_, 1);
    g_.publish(either_, 1);
  }
  Task be_complete() {
    co_await g_.reached(children_in_, children_);
    g_.publish(either_, 1);
  }
  Task serve_parent(int parent) {
    co_await g_.reached(parent_here_, 1);
    co_await g_.reached(children_in_, children_);
    co_await give(parent);
  }
  Task tell_larger(int sibling) {
    co_await g_.reached(either_, 1);
    Notice notice = heard_parent() ? Notice::served : Notice::waiting;
    co_await say(notice, sibling);
    if (notice == Notice::waiting) co_await hear(notice, sibling);
    if (notice == Notice::take) co_await give(sibling);
  }
  Task answer_smaller(int sibling) {
    Notice notice{};
    co_await hear(notice, sibling);
    if (notice == Notice::served) co_return;
    co_await g_.reached(either_, 1);
    taking_ = !heard_parent() && !given_;
    notice = taking_ ? Notice::take : Notice::pass;
    co_await say(notice, sibling);
    if (!taking_) co_return;
    co_await take_in(sibling);
    taking_ = false;
    g_.publish(taken_, 1);
  }

  Group& g_;
  const Call call_;
  const int me_;  // relative to the root
  const int up_;  // distance to my parent
  Scratch memory_;
  std::byte* accumulator_;
  const std::byte* partial_;  // my own data, later the accumulator
  std::uint64_t children_ = 0;
  Signal children_in_;  // how many of them have handed me their partials, or given them to siblings
  Signal parent_here_;  // 1: I have heard it
  Signal either_;       // 1: that, or I am complete
  Signal taken_;        // 1: the smaller sibling's partial is in, if I take it
  bool taking_ = false;
  bool given_ = false;
};

}  // namespace

Task rebalanced_tree(Group& g, Call call) {
  RebalancedTree run(g, call);
  TaskGroup all;
  run.spawn_all(all);
  co_await all.join();
  if (g.size() == 1) g.copy(call.output, call.input, call.bytes());
}

using namespace letters;

extern constinit const Description rebalanced_tree_described{
    .collective = Collective::reduce,
    .name = "rebalanced_tree",
    .run = &rebalanced_tree,
    .needs = {.commutative = true},
    .sums = Sums::as_they_come,
    .summary = "binomial, siblings combine while their parent is away",
    .source = "Marendic et al. 2012",
    .cost = {.balanced = log(P) * (3 * alpha + n * beta + n * gamma),
             .after_last = (1 + depth) * (3 * alpha + n * beta + n * gamma)},
};

}  // namespace stretto::reduce
