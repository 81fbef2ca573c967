#include "board/stripes.hpp"

#include <algorithm>

namespace stretto {
namespace {

// Small enough that all ranks find a chunk of their own and that it stays in a core's cache between reducing and
// copying out, large enough that handing over the chunk's control line costs nothing beside it. Where ranks would wait
// for each other else, shorter: as many chunks as ranks, of 2 KiB and more, took 0.88 to 0.99 of the time of chunks of
// 16 KiB with 4 ranks on 2 cores and 4 to 128 KiB, as long with 8 within what is noise there; with 2 ranks, which wait
// for one at most, up to 1.5.
std::size_t chunk_elements(const Call& call, int ranks) {
  constexpr std::size_t kMost = std::size_t{64} << 10;
  constexpr std::size_t kLeast = std::size_t{2} << 10;
  constexpr std::size_t kLeastTogether = std::size_t{32} << 10;
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t for_each = std::max({call.bytes() / all, kLeastTogether / all, kLeast});
  const std::size_t wanted = std::min(std::clamp(call.bytes() / 64, Board::kMinChunkBytes, kMost), for_each);
  const std::size_t at_least = (call.bytes() + Board::kMaxChunks - 1) / Board::kMaxChunks;
  const std::size_t bytes = std::max(wanted, at_least);
  return std::max<std::size_t>(1, (bytes + call.element_bytes - 1) / call.element_bytes);
}

}  // namespace

Stripes::Stripes(Group& g, const Call& call, int ranks)
    : g_(g),
      call_(call),
      board_(g.board()),
      chunk_count_(chunk_elements(call, ranks)),
      // One even of no elements: that each rank contributes is what orders the times of arrival before their reading.
      chunks_(std::max<std::size_t>(1, (call.count + chunk_count_ - 1) / chunk_count_)),
      position_(board_.arrive(g, call.input)) {}

Task Stripes::contribute(bool copy_finished) {
  std::bitset<Board::kMaxChunks> applied;
  const std::size_t start = static_cast<std::size_t>(position_) * chunks_ / static_cast<std::size_t>(g_.size());
  for (std::size_t left = chunks_; left > 0;) {
    const std::size_t before = left;
    for (std::size_t i = 0; i < chunks_; ++i) {
      const std::size_t chunk = (start + i) % chunks_;
      if (applied[chunk] || !apply_mine(chunk)) continue;
      applied.set(chunk);
      --left;
      if (!copy_finished || !finished(chunk)) continue;
      copy_out(chunk);
      collected_.set(chunk);
    }
    if (left == before) co_await g_.pause();
  }
}

Task Stripes::each_finished(Block chunks, bool copy) {
  co_await board_.reached(g_, board_.generation().everyone_arrived);
  const std::size_t start = static_cast<std::size_t>(g_.rank()) * chunks.count / static_cast<std::size_t>(g_.size());
  std::size_t left = chunks.count;
  for (std::size_t i = 0; i < chunks.count; ++i) left -= collected_[chunks.first + i] ? 1 : 0;
  while (left > 0) {
    const std::size_t before = left;
    std::size_t unfinished = chunks_;
    for (std::size_t i = 0; i < chunks.count; ++i) {
      const std::size_t chunk = chunks.first + (start + i) % chunks.count;
      if (collected_[chunk]) continue;
      if (!finished(chunk)) apply_last(chunk);
      if (!finished(chunk)) {
        unfinished = chunk;
        continue;
      }
      if (copy) copy_out(chunk);
      collected_.set(chunk);
      --left;
    }
    if (left == before && unfinished < chunks_) {
      co_await board_.reached(g_, board_.chunk(unfinished).finished);
    }
  }
}

bool Stripes::apply_mine(std::size_t chunk) {
  Chunk& control = board_.chunk(chunk);
  if (control.held.exchange(1, std::memory_order_acquire) != 0) return false;
  if (last() && control.last_applied_call == board_.call()) {  // somebody has helped me
    control.held.store(0, std::memory_order_release);
    return true;
  }
  add(control, chunk, call_.input + first_of(chunk) * call_.element_bytes, last());
  return true;
}

void Stripes::apply_last(std::size_t chunk) {
  if (last() || !g_.endpoint().platform.can_read_peers()) return;
  Chunk& control = board_.chunk(chunk);
  if (control.held.load(std::memory_order_relaxed) != 0) return;
  if (control.held.exchange(1, std::memory_order_acquire) != 0) return;
  if (control.last_applied_call == board_.call()) {
    control.held.store(0, std::memory_order_release);
    return;
  }
  const Arrival& late = board_.arrival(g_.size() - 1);
  const std::size_t bytes = count_of(chunk) * call_.element_bytes;
  Scratch bounce = g_.scratch(bytes);
  if (!g_.endpoint().platform.read_peer(static_cast<int>(late.rank), bounce.data(),
                                        late.input_address + first_of(chunk) * call_.element_bytes, bytes)) {
    control.held.store(0, std::memory_order_release);
    return;
  }
  add(control, chunk, bounce.data(), true);
}

void Stripes::add(Chunk& control, std::size_t chunk, const std::byte* data, bool from_last) {
  if (control.call != board_.call()) {
    control.call = board_.call();
    control.applied = 0;
  }
  std::byte* accumulator = board_.pool() + first_of(chunk) * call_.element_bytes;
  if (control.applied == 0) {
    g_.copy(accumulator, data, count_of(chunk) * call_.element_bytes);
  } else {
    g_.reduce(call_, data, accumulator, count_of(chunk));
  }
  if (from_last) control.last_applied_call = board_.call();
  const bool complete = ++control.applied == static_cast<std::uint32_t>(g_.size());
  control.held.store(0, std::memory_order_release);
  if (complete) board_.publish(g_, control.finished);
}

void Stripes::copy_out(std::size_t chunk) {
  const std::size_t at = first_of(chunk) * call_.element_bytes;
  g_.copy(call_.output + at, board_.pool() + at, count_of(chunk) * call_.element_bytes);
}

}  // namespace stretto
