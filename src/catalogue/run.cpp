// Running one algorithm of the catalogue, or one that is derived from it, with all that belongs around it.

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/nodes.hpp"
#include "board/board.hpp"
#include "catalogue/catalogue.hpp"
#include "core/remote_words.hpp"

namespace stretto {
namespace {

// Not among what short calls pass through (cmake/hot.ld).
[[gnu::cold, gnu::noinline]] int number_of_nodes(Group& g) { return static_cast<int>(nodes_of(g)->size()); }

// How many bytes of a message, or of a block, one run of the algorithm can take. `longest`: of the call.
std::size_t window_bytes(Group& g, const Algorithm& algorithm, const Call& call, std::size_t longest) {
  if (algorithm.needs.max_bytes > 0) return algorithm.needs.max_bytes;
  const bool through_pool = algorithm.needs.memory == Memory::pool && longest > 0;
  if (!through_pool) return std::max<std::size_t>(longest, 1);
  const bool uses_slots = algorithm.needs.pool_from > 0;
  const int nodes = call.between == nullptr ? 1 : number_of_nodes(g);
  return std::max(g.board().pool_window() / algorithm.messages_in_pool(g.size(), nodes),
                  uses_slots ? Board::kSlotBytes / algorithm.blocks_of_rank(g.size()) : 0);
}

// Whether all that is to be done around the algorithm is to enter the board once and to leave it.
bool is_one_on_board(Group& g, const Algorithm& algorithm, const Call& call) {
  if (!algorithm.is_on_board()) return false;
  const std::size_t longest = longest_bytes(g, call);
  return longest <= window_bytes(g, algorithm, call, longest);
}

BoardUse use_of(const Group& g, const Algorithm& algorithm, std::size_t bytes) {
  const bool pool = algorithm.needs_pool(bytes, g.size());
  return {.slot_bytes = pool ? 0 : bytes * algorithm.blocks_of_rank(g.size()),
          .pool = pool,
          .meets_all = meets_all(algorithm.collective, bytes)};
}

// Of a call whose ranks have lengths of their own: what every block has of these elements, in `blocks`.
Call part_of_all(Call call, std::size_t ranks, Block elements, std::vector<Block>& blocks) {
  const auto clipped = [&](Block block) {
    const std::size_t before = std::min(elements.first, block.count);
    return Block{block.first + before, std::min(elements.count, block.count - before)};
  };
  blocks.clear();
  std::ranges::transform(std::span(call.blocks, ranks), std::back_inserter(blocks), clipped);
  call.blocks = blocks.data();
  const Block mine = clipped({0, call.count});
  call.count = mine.count;
  // The other buffer has all of them.
  if (call.reduction == nullptr) {
    call.input += offset(call, mine);
  } else {
    call.output += offset(call, mine);
  }
  return call;
}

Task enter_and_run(Group& g, const Algorithm& algorithm, Call call) {
  co_await g.board().enter(g);
  co_await algorithm.run(g, call);
}

// Whether it came to its end.
bool drive(Group& g, Task task) {
  g.endpoint().executor.drive(task, g.endpoint().transport);
  const bool done = task.done();
  if (!done) task.forsake();
  return done;
}

}  // namespace

void run_on_board(Group& g, const Algorithm& algorithm, const Call& call) {
  Board& board = g.board();
  const BoardUse use = use_of(g, algorithm, longest_bytes(g, call));
  board.begin(/*new_message=*/true, use);
  const bool may_enter = board.may_enter();
  const auto& [run_shortly, rest] = algorithm.shortly;
  const bool shortly = may_enter && run_shortly != nullptr && !use.pool;
  const bool done = shortly ? run_shortly(g, call) || drive(g, rest(g, call))
                            : drive(g, may_enter ? algorithm.run(g, call) : enter_and_run(g, algorithm, call));
  if (done) board.leave(g);
}

void run_to_end(Group& g, const Algorithm& algorithm, const Call& call) {
  if (!is_one_on_board(g, algorithm, call)) {
    drive(g, run_algorithm(g, algorithm, call));
    return;
  }
  run_on_board(g, algorithm, call);
}

Task run_algorithm(Group& g, const Algorithm& algorithm, Call call) {
  if (algorithm.order_use == OrderUse::none) call.order = nullptr;
  call.shape = algorithm.shape;
  if (algorithm.needs.words && call.number == 0) call.number = g.endpoint().words->number_next_call();
  if (algorithm.map != nullptr) {
    co_await run_mapped(g, algorithm, call);
    co_return;
  }
  if (algorithm.pipelining.cuts()) {
    co_await run_pipelined(g, algorithm, call);
    co_return;
  }
  if (algorithm.hierarchy != nullptr) {
    co_await run_hierarchical(g, algorithm, call);
    co_return;
  }
  if (algorithm.needs.memory == Memory::none) {
    co_await algorithm.run(g, call);
    co_return;
  }
  Board& board = g.board();
  const std::size_t longest = longest_bytes(g, call);
  const std::size_t count = longest / call.element_bytes;
  const std::size_t window = std::max<std::size_t>(1, window_bytes(g, algorithm, call, longest) / call.element_bytes);
  const auto ranks = static_cast<std::size_t>(g.size());
  std::vector<Block> blocks;
  std::size_t start = 0;
  do {
    const Block elements{start, std::min(window, count - start)};
    const Call part = call.blocks == nullptr ? part_of(call, elements) : part_of_all(call, ranks, elements, blocks);
    board.begin(start == 0, use_of(g, algorithm, elements.count * call.element_bytes));
    if (!board.may_enter()) co_await board.enter(g);
    co_await algorithm.run(g, part);
    board.leave(g);
    start += elements.count;
  } while (start < count);
}

}  // namespace stretto
