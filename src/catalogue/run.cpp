// Running one algorithm of the catalogue, or one that is derived from it, with all that belongs around it.

#include <algorithm>

#include "algorithms/parts/blocks.hpp"
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
  return std::max(g.board().pool_window() / algorithm.messages_in_pool(g.size()),
                  uses_slots ? Board::kSlotBytes / algorithm.blocks_of_rank(g.size()) : 0);
}

// Whether all that is to be done around the algorithm is to enter the board once and to leave it.
bool is_one_on_board(Group& g, const Algorithm& algorithm, const Call& call) {
  return algorithm.is_on_board() && call.bytes() <= window_bytes(g, algorithm, call);
}

BoardUse use_of(const Group& g, const Algorithm& algorithm, std::size_t bytes) {
  const bool pool = algorithm.needs_pool(bytes, g.size());
  return {.slot_bytes = pool ? 0 : bytes * algorithm.blocks_of_rank(g.size()), .pool = pool};
}

Task enter_and_run(Group& g, const Algorithm& algorithm, Call call) {
  co_await g.board().enter(g);
  co_await algorithm.run(g, call);
}

}  // namespace

void run_to_end(Group& g, const Algorithm& algorithm, const Call& call) {
  Executor& executor = g.endpoint().executor;
  const auto begin = [&] {
    g.board().begin(/*new_message=*/true, use_of(g, algorithm, call.bytes()));
    return g.board().may_enter() ? algorithm.run(g, call) : enter_and_run(g, algorithm, call);
  };
  const bool one_on_board = is_one_on_board(g, algorithm, call);
  Task task = one_on_board ? begin() : run_algorithm(g, algorithm, call);
  executor.drive(task, g.endpoint().transport);
  if (!task.done()) {
    task.forsake();
  } else if (one_on_board) {
    g.board().leave(g);
  }
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
