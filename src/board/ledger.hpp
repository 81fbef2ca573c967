// The ledger: which calls each rank of a node has come to, in memory that they share, so that a wrong program is told.
//
// Collectives are wrong together: rank 3 in a broadcast, rank 0 in a reduction. Each rank enters what its call is
// before it begins it, and gets the call's signature: a hash of this call and of all before it, alike on all ranks
// whose calls are. The signature goes with what the ranks tell each other anyway (Board::expect, Transport::expect), so
// comparing it costs nothing; the entries are read only once it has differed, or by a rank that has waited for long,
// since ranks that wait for each other in different calls never see a signature. MUST (Hilbrich et al. 2013) and
// PARCOACH (Saillard et al. 2014) find the same, by messages before each call.
//
// An entry has one writer. It is a sequence lock: its number is 0 while it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/atomic.hpp"
#include "core/collective.hpp"

namespace stretto {

/// What a call is, as far as all ranks have to give the same.
struct CallEntry {
  Collective collective{};
  bool native = false;         // left to the MPI library
  std::uint8_t reduction = 0;  // Reduction::code
  std::int32_t root = 0;
  std::uint64_t bytes = 0;  // of the message, of a block or of all blocks; 0 where no rank knows those of others

  bool operator==(const CallEntry&) const = default;
};

/// Two ranks that are in different calls.
struct Difference {
  std::uint64_t number;  // of the call: the first has number 1
  int rank;              // of the other, in the communicator
  CallEntry theirs;
  CallEntry mine;

  /// The same call but for the count.
  bool in_count_only() const;
};

class Ledger {
 public:
  static constexpr std::size_t kCalls = 64;  // that are remembered of a rank

  /// Bytes of zeroed, line-aligned shared memory for the ranks of a node.
  static std::size_t memory_bytes(int ranks);
  /// `ranks`, of the communicator, share the node, and outlive this; `place` is this one's place among them.
  Ledger(std::byte* memory, std::span<const int> ranks, std::size_t place);

  /// This rank comes to its next call. Returns the signature. `unsure`: its arguments may be wrong by themselves, so
  /// that it is none; until it is confirmed or withdrawn, it differs from others only for those who are patient.
  std::uint16_t enter(const CallEntry& call, bool unsure = false);
  void confirm();
  void withdraw();

  /// The earliest of the remembered calls in which another rank differs from this one. Where data is only moved from or
  /// to a root, counts may differ, as far as those whose data is moved can tell (Board::can_take). `patiently`: in the
  /// present call they are compared with the root's, and calls that are unsure count.
  std::optional<Difference> find_difference(bool patiently) const;

  /// Why no rank of the node makes a call any more: they could not agree on which, or some process has failed. (Bland
  /// et al. 2013: a communicator that is revoked.)
  enum class Revoked : std::uint32_t { no, different_calls, failed_peer };
  /// The first reason stays.
  void revoke(Revoked reason) {
    auto none = static_cast<std::uint32_t>(Revoked::no);
    shared_->revoked.compare_exchange(none, static_cast<std::uint32_t>(reason), std::memory_order_release);
  }
  Revoked revoked() const { return static_cast<Revoked>(shared_->revoked.load(std::memory_order_relaxed)); }
  bool is_revoked() const { return revoked() != Revoked::no; }

 private:
  struct Entry {
    Atomic<std::uint64_t> number;  // 0: being written
    Atomic<std::uint64_t> what;    // all but the bytes
    Atomic<std::uint64_t> bytes;
  };
  struct alignas(128) Shared {
    Atomic<std::uint32_t> revoked;
  };

  Entry& entry(std::size_t place, std::uint64_t number) const { return entries_[place * kCalls + number % kCalls]; }
  struct Found {
    CallEntry call;
    bool unsure;
  };
  std::optional<Found> read(std::size_t place, std::uint64_t number) const;
  std::optional<Difference> find_difference(std::uint64_t number, bool patiently) const;

  Shared* shared_;
  Entry* entries_;
  std::span<const int> ranks_;
  std::size_t place_;
  std::uint64_t number_ = 0;
  std::uint64_t history_ = 0;  // a hash of all calls
  std::uint64_t history_before_ = 0;
};

}  // namespace stretto
