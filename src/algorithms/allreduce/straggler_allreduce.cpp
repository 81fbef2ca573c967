// Straggler allreduce: the early ranks reduce what they have while the last ones are awaited; each block of the last
// rank's data is exchanged for the others' sum of it, and finished blocks spread among all meanwhile.
//
// After Devraj et al. 2025 (StragglAR, arXiv 2505.23523), for one rank that is known to be late. That paper is not at
// hand: the schedule, and more late ranks, are ours. The last rank is node 0 of a hypercube, the 2^q-1 ranks that are
// expected first are the others.
// - The last rank's blocks spread as algorithms/allreduce/hypercube.hpp says; but the first node to get one, its owner,
//   gives the sum of all others' in exchange. Both combine the same two operands, and have the same bits.
// - Before that the early nodes go through the same rounds in reverse, which brings the sum of each block to its owner.
// - The ranks between them and the last one are guests: as they come they give their data to the owners, who add them.
//   All nodes but 0 take turns in passing the results on to them.
// Cost, m blocks, 2^q = P: after the last arrival (m + q) (α + nβ/m) + nγ/q, half of the ring's for long messages;
// balanced twice that and nγ. Which ranks are late comes from the prediction, and the ring runs instead where it ends
// as soon. For long messages, where one rank or a few come last by as much as the message takes; best on 2^q ranks, as
// results for guests leave the nodes besides. Commutative operations only: the order of summation is the prediction's.
// Longer than other algorithms by its guests, without whom it would be for 2^q ranks and one late one only.

#include <bit>
#include <vector>

#include "algorithms/allreduce/hypercube.hpp"
#include "algorithms/allreduce/straggler_cube.hpp"
#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/segments.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {

Task ring(Group& g, Call call);

namespace {

// Streams.
constexpr std::uint32_t kAmongNodes = 0;
constexpr std::uint32_t kFromGuests = 1;
constexpr std::uint32_t kToGuests = 2;
constexpr std::uint32_t kWithLast = 3;  // of even blocks, and then of odd ones

class StragglerAllreduce {
 public:
  StragglerAllreduce(Group& g, const Call& call, const Line& line, int dimensions)
      : g_(g),
        call_(call),
        cube_(line, dimensions),
        q_(dimensions),
        blocks_(static_cast<int>(pipeline_segments(g, call, dimensions))),
        guest_(cube_.guest()),
        node_(guest_ < 0 ? cube_.node_of(g.rank()) : -1),
        added_(static_cast<std::size_t>(blocks_)),
        given_(static_cast<std::size_t>(blocks_)),
        finished_(static_cast<std::size_t>(blocks_)) {}

  Task run() {
    TaskGroup all;
    if (node_ == 0) {
      all.spawn(meet_owners(0));
      all.spawn(meet_owners(1));
    } else if (guest_ >= 0) {
      all.spawn(give_as_guest());
      all.spawn(take_as_guest());
    } else {
      g_.copy(call_.output, call_.input, call_.bytes());
      if (std::has_single_bit(static_cast<unsigned>(node_))) {
        for (int guest = 0; guest < cube_.guests(); ++guest) all.spawn(take_in(guest));
      }
      all.spawn(gather_and_spread());
      all.spawn(serve_guests());
    }
    co_await all.join();
  }

 private:
  bool exists(int block) const { return block >= 0 && block < blocks_; }
  Call part(int block) const {
    if (!exists(block)) return part_of(call_, {0, 0});
    return part_of(call_, even_block(call_.count, static_cast<std::size_t>(blocks_), static_cast<std::size_t>(block)));
  }
  int server(int block, int guest) const { return 1 + (block + guest) % (cube_.nodes() - 1); }
  static Signal& of(std::vector<Signal>& signals, int block) { return signals[static_cast<std::size_t>(block)]; }

  // Blocks that do not exist are neither sent nor received.
  Task swap(int neighbour, const std::byte* given, int out, std::byte* taken, int in) {
    const int rank = cube_.rank_of(neighbour);
    const bool with_last = neighbour == 0 || node_ == 0;
    const std::uint32_t stream = with_last ? kWithLast + static_cast<std::uint32_t>(in % 2) : kAmongNodes;
    Transfer sending = g_.send(given, part(out).bytes(), rank, stream);
    if (exists(out)) sending.start();
    if (exists(in)) co_await g_.recv(taken, part(in).bytes(), rank, stream);
    if (exists(out)) co_await sending;
  }

  Task gather_and_spread() {
    Scratch theirs = g_.scratch(part(0).bytes());
    const int rounds = hypercube_rounds(blocks_, q_);
    for (int round = rounds - 1; round >= 0; --round) {
      const int neighbour = neighbour_in_round(round, node_, q_);
      if (neighbour == 0) continue;
      const int in = block_given_in_round(round, node_, q_);
      const int out = block_given_in_round(round, neighbour, q_);
      Task swapped = swap(neighbour, part(out).output, out, theirs.data(), in);
      co_await swapped;
      if (exists(in)) g_.reduce(call_, theirs.data(), part(in).output, part(in).count);
    }
    for (int round = 0; round < rounds; ++round) {
      const int neighbour = neighbour_in_round(round, node_, q_);
      const int in = block_given_in_round(round, neighbour, q_);
      const int out = block_given_in_round(round, node_, q_);
      const bool owns = neighbour == 0 && exists(in);
      if (owns) co_await g_.reached(of(added_, in), static_cast<std::uint64_t>(cube_.guests()));
      Task swapped = swap(neighbour, part(out).output, out, owns ? theirs.data() : part(in).output, in);
      co_await swapped;
      if (owns) g_.reduce(call_, theirs.data(), part(in).output, part(in).count);
      if (exists(in)) g_.publish(of(finished_, in), 1);
    }
  }

  // The last rank, for every other block: while one is combined the next is under way.
  Task meet_owners(int first) {
    const bool in_place = call_.input == call_.output;
    Scratch memory = g_.scratch(in_place ? part(0).bytes() : 0);
    for (int block = first; block < blocks_; block += 2) {
      const Call mine = part(block);
      std::byte* sum = in_place ? memory.data() : mine.output;
      Task swapped = swap(neighbour_in_round(block, node_, q_), mine.input, block, sum, block);
      co_await swapped;
      g_.reduce(call_, mine.input, sum, mine.count);
      g_.copy(mine.output, sum, mine.bytes());
    }
  }

  // What a node does for the guests.
  Task take_in(int guest) {
    Scratch theirs = g_.scratch(part(0).bytes());
    for (int block = std::countr_zero(static_cast<unsigned>(node_)); block < blocks_; block += q_) {
      const Call mine = part(block);
      co_await g_.recv(theirs.data(), mine.bytes(), cube_.rank_of_guest(guest), kFromGuests);
      g_.reduce(call_, theirs.data(), mine.output, mine.count);
      Signal& added = of(added_, block);
      g_.publish(added, added.value.load(std::memory_order_relaxed) + 1);
    }
  }
  Task serve_guests() {
    for (int block = 0; block < blocks_; ++block) {
      for (int guest = 0; guest < cube_.guests(); ++guest) {
        if (server(block, guest) != node_) continue;
        co_await g_.reached(of(finished_, block), 1);
        const Call mine = part(block);
        co_await g_.send(mine.output, mine.bytes(), cube_.rank_of_guest(guest), kToGuests);
      }
    }
  }

  Task give_as_guest() {
    for (int block = 0; block < blocks_; ++block) {
      const Call mine = part(block);
      const int owner = neighbour_in_round(block, 0, q_);
      co_await g_.send(mine.input, mine.bytes(), cube_.rank_of(owner), kFromGuests);
      g_.publish(of(given_, block), 1);
    }
  }
  Task take_as_guest() {
    for (int block = 0; block < blocks_; ++block) {
      const Call mine = part(block);
      co_await g_.reached(of(given_, block), 1);  // in place, it lies where the result goes
      co_await g_.recv(mine.output, mine.bytes(), cube_.rank_of(server(block, guest_)), kToGuests);
    }
  }

  Group& g_;
  const Call call_;
  const StragglerCube cube_;
  const int q_;
  const int blocks_;
  const int guest_;               // -1: a node
  const int node_;                // -1: a guest
  std::vector<Signal> added_;     // of each block of mine, how many guests' data are
  std::vector<Signal> given_;     // 1: its owner has this guest's block
  std::vector<Signal> finished_;  // 1: the block's result is here
};

}  // namespace

Task straggler_allreduce(Group& g, Call call) {
  const Line line(g, call);
  const int dimensions = straggler_dimensions(g, call, line);
  if (dimensions == 0) {
    Task around = ring(g, call);
    co_await around;
    co_return;
  }
  StragglerAllreduce run(g, call, line, dimensions);
  Task all = run.run();
  co_await all;
}

using namespace letters;

extern constinit const Description straggler_allreduce_described{
    .collective = Collective::allreduce,
    .name = "straggler_allreduce",
    .run = &straggler_allreduce,
    .needs = {.commutative = true},
    .order = OrderUse::everywhere,
    .sums = Sums::as_they_come,
    .summary = "early ranks reduce, the last exchanges blocks for sums, which spread at once",
    .source = "Stretto, after Devraj et al. 2025",
    .cost = {.balanced = 2 * (P - 1) * alpha + 2 * n * beta + n * gamma,
             .after_last = (log(P) + m) * (alpha + n * beta / m) + n * gamma / log(P)},
};

}  // namespace stretto::allreduce
