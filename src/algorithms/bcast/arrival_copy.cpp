// Arrival copy: the root leaves its data in shared memory and goes on; everybody takes it when it comes.
//
// The shared-memory broadcast of Alizadeh 2021, section 4.3, with early leave for the root.
// Cost after the last arrival: n bytes copied once (if the last is the root: twice, chunks overlapping). Up to 96 bytes
// travel in the signal's own cache line, up to 32 KiB in the root's slot, more in chunks of the pool.

#include <algorithm>

#include "board/board.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::bcast {
namespace {

// The `left` bytes that the root leaves, of which this rank takes as many as it has room for.
Task through_pool(Group& g, Call call, std::size_t left) {
  Board& board = g.board();
  // The size of chunks matters little: 16 KiB to 256 KiB were within noise for 2-8 ranks and 64 KiB - 8 MiB on 2 cores.
  const std::size_t even = (left + Board::kMaxChunks - 1) / Board::kMaxChunks;
  const std::size_t chunk_bytes = std::max(even, Board::kMinChunkBytes);
  const std::size_t bytes = std::min(left, call.bytes());
  for (std::size_t at = 0; at < bytes; at += chunk_bytes) {
    const std::size_t length = std::min(chunk_bytes, bytes - at);
    Signal& finished = board.chunk(at / chunk_bytes).finished;
    if (g.rank() == call.root) {
      g.copy(board.pool() + at, call.output + at, length);
      board.publish(g, finished);
    } else {
      co_await board.reached(g, finished);
      g.copy(call.output + at, board.pool() + at, length);
    }
  }
}

void leave(Group& g, const Call& call) {
  Board& board = g.board();
  Generation& now = board.generation();
  now.result_rank = static_cast<std::uint32_t>(g.rank());
  now.result_bytes = static_cast<std::uint32_t>(call.bytes());
  if (call.bytes() <= Board::kSlotBytes) g.copy(board.result_data(call.bytes()), call.output, call.bytes());
  board.publish(g, now.done);
}

// Not from the pool.
void take(Group& g, const Call& call, std::size_t left) {
  g.copy(call.output, g.board().result_data(left), std::min(left, call.bytes()));
}

}  // namespace

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  Generation& now = board.generation();
  const bool root = g.rank() == call.root;
  if (root) {
    leave(g, call);
  } else {
    co_await board.reached(g, now.done);
  }
  // The root's count is the one that counts, should this rank have another.
  const std::size_t left = now.result_bytes;
  if (!Board::can_take(g, left, call.bytes())) co_return;
  if (left > Board::kSlotBytes) {
    co_await through_pool(g, call, left);
  } else if (!root) {
    take(g, call, left);
  }
}

bool arrival_copy_shortly(Group& g, const Call& call) {
  Generation& now = g.board().generation();
  if (g.rank() == call.root) {
    leave(g, call);
    return true;
  }
  if (!g.board().comes_soon(g, now.done)) return false;
  if (Board::can_take(g, now.result_bytes, call.bytes())) take(g, call, now.result_bytes);
  return true;
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::bcast,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .shortly = {&arrival_copy_shortly, &arrival_copy},
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .in_nodes = InNodes::by_first_comer,
    .summary = "the root leaves the data in shared memory and goes on",
    .source = "Alizadeh 2021, section 4.3",
    .cost = {.balanced = lambda + 2 * n * kappa, .after_last = lambda + n * kappa, .waiting = 1 / P},
};

}  // namespace stretto::bcast
