#include "algorithms/patterns/chain.hpp"

#include <algorithm>
#include <optional>

#include "arrival/board.hpp"

namespace stretto {
namespace {
constexpr std::size_t kSegmentBytes = 64 * 1024;  // sending one overlaps receiving and reducing the next
}

Task chain_reduce(Group& g, Call call, int position, std::byte* accumulator) {
  Board& board = g.board();
  const bool first = position == 0;
  const bool last = position + 1 == g.size();
  int predecessor = -1;
  int successor = -1;
  if (!first) {
    co_await g.reached(board.arrival(position - 1).announced, board.call());
    predecessor = static_cast<int>(board.arrival(position - 1).rank);
  }
  if (!first || last) g.copy(accumulator, call.input, call.bytes());

  const std::size_t segment = std::max<std::size_t>(1, kSegmentBytes / call.element_bytes);
  Scratch memory = g.scratch(std::min(segment, call.count) * call.element_bytes);
  std::optional<Transfer> sending;  // awaited through a named reference: GCC 12 awaits a copy of `*sending`
  for (std::size_t start = 0; start < call.count; start += segment) {
    const std::size_t count = std::min(segment, call.count - start);
    const std::size_t at = start * call.element_bytes;
    if (!first) {
      co_await g.recv(memory.data(), count * call.element_bytes, predecessor);
      g.reduce(call, memory.data(), accumulator + at, count);
    }
    if (last) continue;
    if (successor < 0) {
      co_await g.reached(board.arrival(position + 1).announced, board.call());
      successor = static_cast<int>(board.arrival(position + 1).rank);
    }
    if (sending) {
      Transfer& previous = *sending;
      co_await previous;
    }
    const std::byte* partial = first ? call.input + at : accumulator + at;
    sending.emplace(g.send(partial, count * call.element_bytes, successor));
    sending->start();
  }
  if (sending) {
    Transfer& final_send = *sending;
    co_await final_send;
  }
}

}  // namespace stretto
