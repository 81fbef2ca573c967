// Running one algorithm of the catalogue, or one that is derived from it, with all that belongs around it.

#include <algorithm>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/nodes.hpp"
#include "board/board.hpp"
#include "catalogue/catalogue.hpp"
#include "core/remote_words.hpp"

namespace stretto {
namespace {

// How many bytes of a message one run of the algorithm can take.
std::size_t window_bytes(Group& g, const Algorithm& algorithm, const Call& call) {
  if (algorithm.needs.max_bytes > 0) return algorithm.needs.max_bytes;
  const bool through_pool = algorithm.needs.memory == Memory::pool && call.bytes() > 0;
  if (!through_pool) return std::max<std::size_t>(call.bytes(), 1);
  const bool uses_slots = algorithm.needs.pool_from > 0;
  const int nodes = call.between == nullptr ? 1 : static_cast<int>(nodes_of(g)->size());
  return std::max(g.board().pool_window() / algorithm.messages_in_pool(g.size(), nodes),
                  uses_slots ? Board::kSlotBytes / algorithm.blocks_of_rank(g.size()) : 0);
}

// Whether all that is to be done around the algorithm is to enter the board once and to leave it.
bool is_one_on_board(Group& g, const Algorithm& algorithm, const Call& call) {
  return algorithm.is_on_board() && call.bytes() <= window_bytes(g, algorithm, call);
}

BoardUse use_of(const Group& g, const Algorithm& algorithm, std::size_t bytes) {
  const bool pool = algorithm.needs_pool(bytes, g.size());
  return {.slot_bytes = pool ? 0 : bytes * algorithm.blocks_of_rank(g.size()),
          .pool = pool,
          .meets_all = meets_all(algorithm.collective, bytes)};
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
  const BoardUse use = use_of(g, algorithm, call.bytes());
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
  const std::size_t window = std::max<std::size_t>(1, window_bytes(g, algorithm, call) / call.element_bytes);
  std::size_t start = 0;
  do {
    const Call part = part_of(call, {start, std::min(window, call.count - start)});
    board.begin(start == 0, use_of(g, algorithm, part.bytes()));
    if (!board.may_enter()) co_await board.enter(g);
    co_await algorithm.run(g, part);
    board.leave(g);
    start += part.count;
  } while (start < call.count);
}

}  // namespace stretto
