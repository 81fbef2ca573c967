#include "board/board.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stretto {
namespace {

// Carves arrays out of a block of memory; with a null base it only measures.
struct Carver {
  std::byte* base;
  std::size_t used = 0;

  template <class T>
  T* take(std::size_t count) {
    T* array = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
    used += (count * sizeof(T) + kLine - 1) / kLine * kLine;
    return array;
  }
};

template <class T>
void zero(T* array, std::size_t count) {
  std::memset(static_cast<void*>(array), 0, count * sizeof(T));
}

}  // namespace

// Where everything is.
struct Board::Layout {
  Layout(std::byte* memory, std::size_t ranks, std::size_t ring) {
    Carver carver{memory};
    generations = carver.take<Generation>(ring);
    order = carver.take<Arrival>(ring * ranks);
    presence = carver.take<Presence>(ranks);
    slots = carver.take<Slot>(ring * ranks);
    chunks = carver.take<Chunk>(2 * kMaxChunks);
    small_slot_data = carver.take<std::byte>(ring * ranks * kSmallSlotBytes);
    slot_data = carver.take<std::byte>(2 * ranks * kSlotBytes);
    bytes = carver.used;
  }

  Generation* generations;
  Arrival* order;
  Presence* presence;
  Slot* slots;
  Chunk* chunks;
  std::byte* small_slot_data;
  std::byte* slot_data;
  std::size_t bytes;
};

std::size_t Board::memory_bytes(int ranks, std::size_t generations) {
  return Layout(nullptr, static_cast<std::size_t>(ranks), generations).bytes;
}

// Not the data of messages, of which nothing is read but what has been written in the same call.
void Board::clear(std::byte* memory, int ranks, std::size_t generations) {
  const auto count = static_cast<std::size_t>(ranks);
  const Layout board(memory, count, generations);
  std::uint64_t latest = 0;
  for (std::size_t rank = 0; rank < count; ++rank)
    latest = std::max(latest, board.presence[rank].left.value.load(std::memory_order_acquire));
  zero(board.presence, count);
  const std::size_t places = std::min<std::uint64_t>(latest + 1, generations);  // at most
  for (std::size_t place = 0; place < places; ++place) {
    zero(board.generations + place, 1);
    zero(board.order + place * count, count);
    zero(board.slots + place * count, count);
  }
  for (std::size_t parity = 0; parity < 2; ++parity) {
    Chunk* const chunks = board.chunks + parity * kMaxChunks;
    std::size_t used = 0;  // calls use the first ones
    while (used < kMaxChunks && chunks[used].finished.value.load(std::memory_order_relaxed) > 0) ++used;
    zero(chunks, used);
  }
}

void Board::place_pages(const std::byte* memory, int ranks) {
  constexpr std::ptrdiff_t kPage = 4096;
  constexpr std::ptrdiff_t kMost = std::ptrdiff_t{1} << 20;
  const Layout board(const_cast<std::byte*>(memory), static_cast<std::size_t>(ranks), kGenerations);
  const std::ptrdiff_t used = board.slot_data - memory;
  if (used > kMost) return;
  for (std::ptrdiff_t at = 0; at < used; at += kPage)
    static_cast<void>(*static_cast<const volatile std::byte*>(memory + at));
}

Board::Board(std::byte* memory, int ranks, int rank, std::size_t generations)
    : ranks_(static_cast<std::size_t>(ranks)), rank_(rank), places_(generations) {
  const Layout layout(memory, ranks_, generations);
  generations_ = layout.generations;
  order_ = layout.order;
  presence_ = layout.presence;
  slots_ = layout.slots;
  chunks_ = layout.chunks;
  small_slot_data_ = layout.small_slot_data;
  slot_data_ = layout.slot_data;
}

void Board::begin(bool new_message, BoardUse use) {
  ++call_;
  if (new_message) place_ = kNoPlace;
  take_place();
  all_met_ = use.meets_all;
  used_pool_[parity()] = use.pool;
  if (use.slot_bytes > kSmallSlotBytes) {
    must_have_left_ = std::max(must_have_left_, std::exchange(used_slots_[parity()], call_));
  }
  if (use.pool) take_half_of_pool();
}

void Board::take_place() {
  const std::size_t place = next_place();
  // Where all have met, the one who goes on alone has the whole ring before it from here: the places in turn, too, as
  // all others have what they need to leave these.
  if (all_met_ || !takes_turns()) newest_ = place;
  at_before_ = std::exchange(at_, place);
  must_have_left_ = std::exchange(places_[place].call, call_);
}

void Board::take_half_of_pool() {
  Pool::Use& latest = pool_->latest[parity()];
  if (latest.ranks.data() == presence_) {
    must_have_left_ = std::max(must_have_left_, std::exchange(latest.call, call_));
  } else {
    other_use_ = std::exchange(latest, {{presence_, ranks_}, call_, own_memory_});
  }
}

// What it learns saves the calls that follow from looking.
bool Board::may_enter() {
  if (!other_use_.ranks.empty()) {
    if (!other_use_.is_left()) return false;
    other_use_ = {};
  }
  if (everyone_left_ >= must_have_left_) return true;
  std::uint64_t left = call_ - 1;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    left = std::min(left, presence_[rank].left.value.load(std::memory_order_acquire));
  }
  everyone_left_ = std::max(everyone_left_, left);
  return left >= must_have_left_;
}

Task Board::enter(Group& g) {
  for (Presence& rank : other_use_.ranks) co_await g.reached(rank.left, other_use_.call);
  other_use_ = {};
  for (std::size_t rank = 0; rank < ranks_; ++rank) co_await g.reached(presence_[rank].left, must_have_left_);
  everyone_left_ = std::max(everyone_left_, must_have_left_);
}

void Board::leave(Group& g) {
  if (arrived_) places_[at_].arrivals += static_cast<std::uint32_t>(ranks_);
  arrived_ = false;
  g.publish(presence_[static_cast<std::size_t>(rank_)].left, call_);
}

int Board::arrive(Group& g, const void* input, std::size_t block_bytes) {
  Generation& now = generation();
  // The counter is exact because every call at this place in the ring adds `ranks_` to it or nothing, and nobody is
  // here before everybody has left the one before it there. acq_rel: whoever sees the count sees what earlier arrivers
  // wrote before.
  arrived_ = true;
  const std::uint32_t before = places_[at_].arrivals;
  const std::uint32_t place = now.arrivals.fetch_add(1, std::memory_order_acq_rel) - before;
  const bool last = place + 1 == ranks_;
  if (place_ == kNoPlace) place_ = static_cast<int>(place);
  const std::int64_t time_ns = place == 0 || last ? g.endpoint().platform.now_ns() : 0;
  // Before the announcement, which the others may act upon.
  if (place == 0) now.first_arrival_ns = time_ns;
  if (last) now.last_arrival_ns = time_ns;
  Arrival& mine = arrival(static_cast<int>(place));
  mine.rank = static_cast<std::uint32_t>(rank_);
  mine.block_bytes = static_cast<std::uint32_t>(block_bytes);
  mine.input_address = reinterpret_cast<std::uint64_t>(input);
  publish(g, mine.announced);
  if (last) publish(g, now.everyone_arrived);
  return static_cast<int>(place);
}

void Board::publish_slot(Group& g, int rank, std::size_t bytes) {
  Slot& filled = slot(rank);
  filled.bytes = static_cast<std::uint32_t>(bytes);
  publish(g, filled.filled);
}

void Board::synchronised_by_arrival() {
  synchronised();
  const std::int64_t skew_ns = generation().last_arrival_ns - generation().first_arrival_ns;
  recent_skew_ns_ += (skew_ns - recent_skew_ns_) / 4;
}

std::byte* Board::slot_data(int rank, std::size_t bytes) {
  if (bytes <= kInlineBytes) return slot(rank).payload;
  if (bytes <= kSmallSlotBytes) {
    return small_slot_data_ + (at_ * ranks_ + static_cast<std::size_t>(rank)) * kSmallSlotBytes;
  }
  return slot_data_ + (parity() * ranks_ + static_cast<std::size_t>(rank)) * kSlotBytes;
}

std::byte* Board::block_data(int rank, std::size_t bytes, std::size_t longest) {
  return longest <= kSlotBytes ? slot_data(rank, bytes) : pool() + static_cast<std::size_t>(rank) * longest;
}

bool Board::can_take(Group& g, std::size_t left, std::size_t bytes) {
  if ((left > kSlotBytes) != (bytes > kSlotBytes)) g.endpoint().executor.stop();
  if (left > bytes) g.endpoint().truncated = true;
  return !g.endpoint().executor.stopped();
}

std::byte* Board::result_data(std::size_t bytes) {
  if (bytes <= kInlineBytes) return generation().result;
  return slot_data(static_cast<int>(generation().result_rank), bytes);
}

}  // namespace stretto
