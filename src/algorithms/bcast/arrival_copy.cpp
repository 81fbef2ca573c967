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

Task through_pool(Group& g, Call call) {
  Board& board = g.board();
  // The size of chunks matters little: 16 KiB to 256 KiB were within noise for 2-8 ranks and 64 KiB - 8 MiB on 2 cores.
  const std::size_t even = (call.bytes() + Board::kMaxChunks - 1) / Board::kMaxChunks;
  const std::size_t chunk_bytes = std::max(even, Board::kMinChunkBytes);
  const std::size_t chunks = (call.bytes() + chunk_bytes - 1) / chunk_bytes;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t at = chunk * chunk_bytes;
    const std::size_t bytes = std::min(chunk_bytes, call.bytes() - at);
    Signal& finished = board.chunk(chunk).finished;
    if (g.rank() == call.root) {
      g.copy(board.pool() + at, call.output + at, bytes);
      g.publish(finished, board.call());
    } else {
      co_await g.reached(finished, board.call());
      g.copy(call.output + at, board.pool() + at, bytes);
    }
  }
}

}  // namespace

Task arrival_copy(Group& g, Call call) {
  Board& board = g.board();
  Generation& now = board.generation();
  if (call.bytes() > Board::kSlotBytes) {
    co_await through_pool(g, call);
  } else if (g.rank() == call.root) {
    now.result_rank = static_cast<std::uint32_t>(g.rank());
    g.copy(board.result_data(call.bytes()), call.output, call.bytes());
    g.publish(now.done, board.call());
  } else {
    co_await g.reached(now.done, board.call());
    g.copy(call.output, board.result_data(call.bytes()), call.bytes());
  }
}

using namespace letters;

extern constinit const Description arrival_copy_described{
    .collective = Collective::bcast,
    .name = "arrival_copy",
    .run = &arrival_copy,
    .needs = {.memory = Memory::pool, .pool_from = Board::kSlotBytes + 1},
    .in_nodes = InNodes::by_first_comer,
    .summary = "the root leaves the data in shared memory and goes on",
    .source = "Alizadeh 2021, section 4.3",
    .cost = {.balanced = P * n * kappa, .after_last = n * kappa},
};

}  // namespace stretto::bcast
