// Arrival tree: whenever two partial results are ready, one of their owners combines them.
//
// The log P arrival-aware allreduce that Alizadeh 2021 (5.4.1, 7.2.1) wishes for: Tree-dyn of Benoit, Canon, Marchal
// 2014 on one shared word. A rank with a ready partial takes the parked one out and reduces both, or parks its own and
// waits for the result.
// Cost: everyone at once, log2(P) parallel steps of nγ; far apart, one step of nγ after the last arrival. It adapts by
// itself. Partials lie in the slots (32 KiB; longer messages in several rounds). Commutative operations only.
//
// No ABA: a rank parks at most once a call, and the word carries the call's number (its low 40 bits).

#include "board/board.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::allreduce {
namespace {

constexpr std::uint64_t kNobody = 0;
constexpr unsigned kRankBits = 24;
constexpr std::uint64_t kRankMask = (std::uint64_t{1} << kRankBits) - 1;

std::uint64_t parked_word(std::uint64_t call, std::uint64_t rank_plus_one) {
  return (call << kRankBits) | rank_plus_one;
}

// Takes out a parked partial and returns its rank, or parks `rank`'s own and returns -1.
int take_or_park(Board& board, int rank) {
  Atomic<std::uint64_t>& parked = board.generation().parked;
  const std::uint64_t empty = parked_word(board.call(), kNobody);
  const std::uint64_t mine = parked_word(board.call(), static_cast<std::uint64_t>(rank) + 1);
  std::uint64_t seen = parked.load(std::memory_order_acquire);
  while (true) {
    const bool fresh = (seen & ~kRankMask) == empty;
    const std::uint64_t other = fresh ? seen & kRankMask : kNobody;
    // acq_rel: what I reduced is visible to who takes me, and what the other reduced is visible to me.
    const std::uint64_t next = other == kNobody ? mine : empty;
    if (parked.compare_exchange(seen, next, std::memory_order_acq_rel)) return static_cast<int>(other) - 1;
  }
}

}  // namespace

Task arrival_tree(Group& g, Call call) {
  Board& board = g.board();
  Generation& now = board.generation();
  const std::size_t n = call.bytes();
  Slot& slot = board.slot(g.rank());
  std::byte* partial = board.slot_data(g.rank(), n);
  g.copy(partial, call.input, n);
  slot.weight = 1;
  board.arrive(g);

  const auto everyone = static_cast<std::uint32_t>(g.size());
  bool waiting = false;
  while (slot.weight < everyone && !waiting) {
    const int other = take_or_park(board, g.rank());
    if (other < 0) {
      waiting = true;
    } else {
      g.reduce(call, board.slot_data(other, n), partial, call.count);
      slot.weight += board.slot(other).weight;
    }
  }

  if (waiting) {
    co_await board.reached(g, now.done);
  } else {
    now.result_rank = static_cast<std::uint32_t>(g.rank());
    g.copy(board.result_data(n), partial, n);
    board.publish(g, now.done);
  }
  g.copy(call.output, board.result_data(n), n);
  board.synchronised_by_arrival();
}

using namespace letters;

extern constinit const Description arrival_tree_described{
    .collective = Collective::allreduce,
    .name = "arrival_tree",
    .run = &arrival_tree,
    .needs = {.memory = Memory::board, .max_bytes = Board::kSlotBytes, .commutative = true},
    .sums = Sums::as_they_come,
    .summary = "any two partial results that are ready are combined",
    .source = "Stretto, after Benoit, Canon, Marchal 2014",
    .cost = {.balanced = log(P) * n * gamma + P * n * kappa, .after_last = n * gamma + P * n * kappa},
};

}  // namespace stretto::allreduce
