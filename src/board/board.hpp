// The arrival board: who has come to a collective, in which order, with what; in memory that all ranks of a node share.
//
// Calls that use the board are numbered alike by all ranks. The number is the *generation* of everything
// on the board: a rank publishes "call k" where the thesis (Alizadeh 2021, Algorithms 4.1 and 5.1) sets a flag that
// somebody must reset, so back-to-back calls cannot meet, there is no mutex, and no barrier stands between calls. The
// state of calls is a ring of 64 places, so that a rank which leaves early, such as the root of a broadcast, may be 64
// calls ahead: it enters a call when every rank has left the one that had its place before. Of the memory for messages
// of more than a kilobyte there are two halves, for even and odd calls: who wants one waits until all have left the
// latest call that used it. Since no rank can be further ahead so, calls that follow two of the pool's take the places
// of these in turn, whose lines are warm; so do calls that follow one that all have entered before any left it. Zeroed
// memory is the valid start.
//
// The order of arrival is one fetch-add. Of the other words most have a single writer; `parked` and `held` are taken by
// compare-and-swap and exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "board/pool.hpp"
#include "core/group.hpp"

namespace stretto {

inline constexpr std::size_t kLine = 128;  // two cache lines: the adjacent-line prefetcher pairs them

/// One entry of the order of arrival.
struct Arrival {
  Signal announced;  // the call in which the fields below are valid
  std::uint32_t rank;
  std::uint32_t block_bytes;    // that the rank has left
  std::uint64_t input_address;  // in that rank's memory, for single copy
};

/// What all ranks of one call share.
struct Generation {
  alignas(kLine) Atomic<std::uint32_t> arrivals;  // total over all calls that had this place in the ring; never reset
  alignas(kLine) Signal everyone_arrived;
  std::int64_t first_arrival_ns;
  std::int64_t last_arrival_ns;
  alignas(kLine) Signal done;  // the result is ready: small ones lie beside the signal, in the same line pair
  std::uint32_t result_rank;   // larger ones in this rank's slot
  std::uint32_t result_bytes;  // of a broadcast: what the root has left
  alignas(32) std::byte result[96];
  alignas(kLine) Atomic<std::uint64_t> parked;  // arrival_tree: the partial result that waits for another
};

/// A rank's place for a message, left by it or for it; up to 96 bytes travel in the signal's own line, up to
/// Board::kSlotBytes beside.
struct alignas(kLine) Slot {
  Signal filled;
  std::uint32_t weight;  // arrival_tree: how many ranks' data the slot holds
  std::uint32_t bytes;   // of the block that the root has left for the rank
  alignas(32) std::byte payload[96];
};

/// Control of one chunk of the pool. The fields behind `held` belong to whoever holds it.
struct alignas(kLine) Chunk {
  Atomic<std::uint32_t> held;
  std::uint64_t call;               // the fields below are of this call
  std::uint32_t applied;            // contributions in the chunk
  std::uint64_t last_applied_call;  // the call in which the last arriver's contribution was applied
  Signal finished;                  // the call in which the chunk holds its final value
};

/// What a call takes of the memory for longer messages; as far as that is shared, the same on all ranks.
struct BoardUse {
  std::size_t slot_bytes = 0;  // in a rank's slot
  bool pool = false;
  bool meets_all = false;  // no rank leaves before all have entered
};

class Board {
 public:
  static constexpr std::size_t kGenerations = 64;
  static constexpr std::size_t kInlineBytes = sizeof(Slot::payload);
  static constexpr std::size_t kSmallSlotBytes = std::size_t{1} << 10;  // of each generation
  static constexpr std::size_t kSlotBytes = std::size_t{32} << 10;      // of even and odd calls
  static constexpr std::size_t kMaxChunks = 512;                        // a call
  static constexpr std::size_t kMinChunkBytes = std::size_t{16} << 10;
  static constexpr int kNoPlace = -1;

  /// Bytes of zeroed, line-aligned shared memory that a board of `ranks` ranks needs (without pool).
  static std::size_t memory_bytes(int ranks, std::size_t generations = kGenerations);

  /// Makes zeroed again what a board of as many ranks has used, in memory that nobody uses any more.
  static void clear(std::byte* memory, int ranks, std::size_t generations = kGenerations);

  /// Has the kernel place the pages that short calls use, for this process and, where it is the first, for all. Else
  /// each of the first 64 calls takes some us longer, 3 times as long with 256 bytes. Not on a board of many ranks,
  /// whose pages are thousands.
  static void place_pages(const std::byte* memory, int ranks);

  /// A rank may be `generations` calls ahead, at least 3: with few, tests soon come to use a place in the ring again.
  Board(std::byte* memory, int ranks, int rank, std::size_t generations = kGenerations);

  /// Memory for large messages, shared by all ranks. Every rank attaches the same at the same call number. Where other
  /// boards use it too, `own_memory` keeps this one's.
  void attach_pool(std::shared_ptr<Pool> pool, std::shared_ptr<const void> own_memory = nullptr) {
    pool_ = std::move(pool);
    own_memory_ = std::move(own_memory);
  }
  std::size_t pool_window() const { return pool_ == nullptr ? 0 : pool_->window(); }
  /// Which half of it the next call takes.
  std::size_t next_half_of_pool() const { return (call_ + 1) & 1U; }

  // --- one call ---
  /// Begins the next call, a new message or the next part of one. Before anything shared is touched, may_enter() must
  /// be true, or enter() awaited.
  void begin(bool new_message, BoardUse use);
  bool may_enter();
  Task enter(Group& g);
  void leave(Group& g);
  /// The call that just ended cannot have ended before all ranks had entered it.
  void synchronised() { everyone_left_ = call_ - 1; }
  /// The same, and each rank has contributed something after its arrive() that this rank has waited for: so all ranks
  /// see the same times of arrival, and learn the same from them.
  void synchronised_by_arrival();

  std::uint64_t call() const { return call_; }

  /// What the program's call is, the same number on all ranks if it is the same call: it goes with every signal of the
  /// board (docs/decisions/0023-wrong-use.md).
  void expect(std::uint16_t signature) { signature_ = signature; }
  /// `co_await board.reached(g, signal)`: until it has been published in this call. A rank that is in another call of
  /// the program's stops the executor.
  SignalWait reached(Group& g, Signal& signal) { return g.reached(signal, first_stamp(), first_stamp() | signature_); }
  /// Whether that comes soon.
  bool comes_soon(Group& g, Signal& signal) {
    const SignalWait wait = reached(g, signal);
    const Endpoint& endpoint = g.endpoint();
    for (unsigned looks = 0; !wait.is_over(); ++looks) {
      if (endpoint.executor.stopped() || !endpoint.platform.may_look_again(looks)) return false;
    }
    return true;
  }
  bool has(const Signal& signal) const { return signal.reached(first_stamp()); }
  void publish(Group& g, Signal& signal) { g.publish(signal, first_stamp() | signature_); }
  /// The same of the slot of `rank`, in which `bytes` bytes are left.
  void publish_slot(Group& g, int rank, std::size_t bytes);

  /// Takes the next place in the order of arrival and announces it, and how long the block is that this rank has left.
  /// 0 is first.
  int arrive(Group& g, const void* input = nullptr, std::size_t block_bytes = 0);
  /// Which place this rank took at the present or latest message; kNoPlace if none.
  int place() const { return place_; }
  Arrival& arrival(int position) { return order_[at_ * ranks_ + static_cast<std::size_t>(position)]; }
  /// How far apart ranks have arrived of late, first to last, in ns: a running mean, the same number on every rank.
  std::int64_t recent_skew_ns() const { return recent_skew_ns_; }

  Generation& generation() { return generations_[at_]; }
  const Generation& generation() const { return generations_[at_]; }
  Slot& slot(int rank) { return slots_[at_ * ranks_ + static_cast<std::size_t>(rank)]; }
  /// Where a message of `bytes` bytes lies in a rank's slot.
  std::byte* slot_data(int rank, std::size_t bytes);
  /// Where the block lies that a rank leaves or takes: in its slot or, if longer, at its place in the pool.
  std::byte* block_data(int rank, std::size_t bytes) { return block_data(rank, bytes, bytes); }
  /// The same where ranks have lengths of their own, of which all know the longest.
  std::byte* block_data(int rank, std::size_t bytes, std::size_t longest);
  /// Whether a rank that takes part with `bytes` bytes can take the `left` bytes that another has left: as far as it
  /// has room (else Endpoint::truncated), but not where only one of both uses the pool. Then the executor is stopped.
  static bool can_take(Group& g, std::size_t left, std::size_t bytes);
  /// Where the call's result of `bytes` bytes lies; valid for readers once generation().done is reached.
  std::byte* result_data(std::size_t bytes);

  /// What this rank has heard too early: by the number of a call that is still to come, ranks that are there already.
  std::multimap<std::uint64_t, int>& early_arrivals() { return early_arrivals_; }

  Chunk& chunk(std::size_t index) { return chunks_[parity() * kMaxChunks + index]; }
  std::byte* pool() { return pool_->memory + parity() * pool_->window(); }

 private:
  struct Layout;
  // What this rank remembers of a place in the ring.
  struct Place {
    std::uint64_t call = 0;      // the latest that had it
    std::uint32_t arrivals = 0;  // of earlier calls
  };

  void take_place();
  void take_half_of_pool();

  // The value of a signal that is published in this call, without a signature.
  std::uint64_t first_stamp() const { return call_ << kSignatureBits; }
  // It goes by earlier calls only, which are the same on all ranks: in a wrong program the present one may differ.
  bool takes_turns() const { return all_met_ || (used_pool_[0] && used_pool_[1]); }
  std::size_t next_place() const { return takes_turns() ? at_before_ : newest_ + 1 < places_.size() ? newest_ + 1 : 0; }
  std::size_t parity() const { return call_ & 1U; }

  static constexpr unsigned kSignatureBits = 16;  // which leaves 48 for calls: a year of nothing but barriers

  std::size_t ranks_;
  int rank_;
  Generation* generations_;
  Arrival* order_;
  Presence* presence_;
  Slot* slots_;
  Chunk* chunks_;
  std::byte* small_slot_data_;
  std::byte* slot_data_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<const void> own_memory_;

  std::uint64_t call_ = 0;
  std::uint16_t signature_ = 0;
  std::vector<Place> places_;
  std::size_t at_ = 0;                  // the place of the present call
  std::size_t at_before_ = 0;           // of the call before
  std::size_t newest_ = 0;              // the place from which the ring moves on
  bool used_pool_[2] = {false, false};  // the latest call of each parity
  bool all_met_ = false;                // in the call before
  std::uint64_t everyone_left_ = 0;
  std::uint64_t must_have_left_ = 0;      // the call that everybody has to have left, before this one is entered
  std::uint64_t used_slots_[2] = {0, 0};  // the latest call of each parity that used the slots of more than 1 KiB
  Pool::Use other_use_;                   // of the half of the pool that the call takes, on another board
  std::int64_t recent_skew_ns_ = 0;
  bool arrived_ = false;  // in the present call; all ranks or none call arrive()
  int place_ = kNoPlace;
  std::multimap<std::uint64_t, int> early_arrivals_;
};

}  // namespace stretto
