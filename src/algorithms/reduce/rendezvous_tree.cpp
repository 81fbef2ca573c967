// Rendezvous tree: whenever two ranks have a partial result each, wherever they are, one hands its own to the other.
//
// Between nodes what allreduce's arrival_tree is in shared memory (Tree-dyn of Benoit, Canon, Marchal 2014), and the
// signalling by one-sided operations that Alizadeh 2021, section 7.2.3, asks for. At the root there is one word, the
// meeting point, in which at most one rank waits. A rank with a partial goes there by compare-and-swap. Is it empty, it
// waits there; else it takes out who waits, and gives that rank its partial. The root takes in only, and leaves last.
// Notices are cards: who speaks, and how many ranks' data it has to give; none means: give me yours.
// Cost: far apart, two atomics and one message α + nβ + nγ after the last arrival, two where the root was away; all at
// once, log2(P) times that. The word is the root's: without a network that answers for it (RDMA), nobody meets before
// the root has come. Commutative operations only; the order of summation is that of the meetings.
//
// No ABA: a word is a rank and the call's number; a rank that finds one of another call looks again.

#include "core/algorithm.hpp"
#include "core/group.hpp"
#include "core/remote_words.hpp"

namespace stretto::reduce {
namespace {

constexpr std::uint64_t kEmpty = 0;
constexpr unsigned kRankBits = 64 - RemoteWords::kNumberBits;
constexpr std::uint64_t kRankMask = (std::uint64_t{1} << kRankBits) - 1;

struct Card {
  std::int32_t rank;
  std::int32_t weight;  // how many ranks' data; 0: the rank wants to have some
};

class RendezvousTree {
 public:
  RendezvousTree(Group& g, const Call& call)
      : g_(g), call_(call), memory_(g.scratch(2 * call.bytes())), theirs_(memory_.data()), partial_(call.input) {}

  Task run() {
    while (holds_ && weight_ < g_.size()) {
      const std::uint64_t seen = take_or_wait();
      if (seen == kEmpty) {
        co_await meet_who_comes();
      } else if (!is_mine(seen)) {
        co_await g_.pause();
      } else {
        co_await meet(static_cast<int>(seen & kRankMask) - 1);
      }
    }
    if (is_root()) g_.copy(call_.output, partial_, call_.bytes());
  }

 private:
  bool is_root() const { return g_.rank() == call_.root; }
  bool is_mine(std::uint64_t word) const { return word >> kRankBits == call_.number; }

  // What was at the meeting point: nothing, and I wait there; a rank of this call, and it is taken out; or one of
  // another call, which stays.
  std::uint64_t take_or_wait() {
    RemoteWords& words = *g_.endpoint().words;
    const int home = g_.real(call_.root);
    const std::size_t index = RemoteWords::index_of(call_.number);
    const std::uint64_t me = call_.number << kRankBits | (static_cast<std::uint64_t>(g_.rank()) + 1);
    std::uint64_t expected = kEmpty;
    while (true) {
      const std::uint64_t seen = words.compare_and_swap(home, index, expected, expected == kEmpty ? me : kEmpty);
      if (seen == expected || (seen != kEmpty && !is_mine(seen))) return seen;
      expected = seen;
    }
  }

  Task meet_who_comes() {
    Card card{};
    co_await take_card(card);
    if (card.weight == 0) {
      co_await give(card.rank);
    } else {
      co_await take_in(card);
    }
  }

  Task meet(int other) {
    if (!is_root()) {
      co_await give(other);
      co_return;
    }
    Card card{g_.rank(), 0};
    co_await g_.send(reinterpret_cast<const std::byte*>(&card), sizeof card, other, kStreamOfAny);
    co_await take_card(card);  // nobody else knows of the root, which is not at the meeting point
    co_await take_in(card);
  }

  Transfer take_card(Card& card) {
    return g_.recv(reinterpret_cast<std::byte*>(&card), sizeof card, kAnyRank, kStreamOfAny);
  }

  Task give(int to) {
    const Card card{g_.rank(), weight_};
    Transfer notice = g_.send(reinterpret_cast<const std::byte*>(&card), sizeof card, to, kStreamOfAny);
    notice.start();
    co_await g_.send(partial_, call_.bytes(), to);
    co_await notice;
    holds_ = false;
  }

  Task take_in(const Card& card) {
    Transfer data = g_.recv(theirs_, call_.bytes(), card.rank);
    data.start();
    std::byte* sum = memory_.data() + call_.bytes();
    g_.copy(sum, partial_, call_.bytes());  // the first time my own data, while theirs are on their way
    partial_ = sum;
    co_await data;
    g_.reduce(call_, theirs_, sum, call_.count);
    weight_ += card.weight;
  }

  Group& g_;
  const Call& call_;
  Scratch memory_;
  std::byte* const theirs_;
  const std::byte* partial_;  // my own data, later the sum
  std::int32_t weight_ = 1;   // how many ranks' data it is
  bool holds_ = true;         // until another has it
};

}  // namespace

Task rendezvous_tree(Group& g, Call call) {
  RendezvousTree run(g, call);
  co_await run.run();
}

using namespace letters;

extern constinit const Description rendezvous_tree_described{
    .collective = Collective::reduce,
    .name = "rendezvous_tree",
    .run = &rendezvous_tree,
    .needs = {.commutative = true, .words = true},
    .sums = Sums::as_they_come,
    .summary = "any two that have partial results meet, by one-sided atomics",
    .source = "Stretto",
    .cost = {.balanced = log(P) * (3 * alpha + n * beta + n * gamma), .after_last = 3 * alpha + n * beta + n * gamma},
};

}  // namespace stretto::reduce
