#include "board/chain.hpp"

#include <algorithm>
#include <optional>

#include "board/board.hpp"

namespace stretto {
namespace {
constexpr std::size_t kSegmentBytes = std::size_t{64} << 10;  // sending one overlaps receiving and reducing the next
}

Task chain_reduce(Group& g, Call call, int position, std::byte* accumulator) {
  Board& board = g.board();
  const bool first = position == 0;
  const bool last = position + 1 == g.size();
  int predecessor = -1;
  int successor = -1;
  if (!first) {
    co_await board.reached(g, board.arrival(position - 1).announced);
    predecessor = static_cast<int>(board.arrival(position - 1).rank);
  }
  if (!first || last) g.copy(accumulator, call.input, call.bytes());

  const std::size_t segment = std::max<std::size_t>(1, kSegmentBytes / call.element_bytes);
  Scratch memory = g.scratch(std::min(segment, call.count) * call.element_bytes);
  std::optional<Transfer> sending;  // awaited through a named reference: GCC 12 awaits a copy of `*sending`
  std::size_t complete = first ? call.count : 0;  // elements that hold everything up to and including my data
  std::size_t sent = last ? call.count : 0;
  while (complete < call.count || sent < call.count) {
    if (complete < call.count) {
      const std::size_t count = std::min(segment, call.count - complete);
      co_await g.recv(memory.data(), count * call.element_bytes, predecessor);
      g.reduce(call, memory.data(), accumulator + complete * call.element_bytes, count);
      complete += count;
    }
    if (sent == call.count) continue;
    if (successor < 0) {
      Arrival& next = board.arrival(position + 1);
      // While the successor is away, take in everything, so that the predecessor need not wait for it.
      if (complete < call.count && !board.has(next.announced)) continue;
      co_await board.reached(g, next.announced);
      successor = static_cast<int>(next.rank);
    }
    if (sending) {
      Transfer& previous = *sending;
      co_await previous;
    }
    const std::size_t count = std::min(segment, call.count - sent);
    const std::byte* partial = (first ? call.input : accumulator) + sent * call.element_bytes;
    sending.emplace(g.send(partial, count * call.element_bytes, successor));
    sending->start();
    sent += count;
  }
  if (sending) {
    Transfer& final_send = *sending;
    co_await final_send;
  }
}

}  // namespace stretto
