#include "board/ledger.hpp"

#include <algorithm>

namespace stretto {
namespace {

constexpr unsigned kRootAt = 32;
constexpr unsigned kReductionAt = 16;
constexpr unsigned kNativeAt = 8;
constexpr std::uint64_t kUnsure = 1U << 9;

std::uint64_t packed(const CallEntry& call) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << kRootAt |
         std::uint64_t{call.reduction} << kReductionAt | static_cast<std::uint64_t>(call.native ? 1 : 0) << kNativeAt |
         static_cast<std::uint64_t>(call.collective);
}

CallEntry unpacked(std::uint64_t what, std::uint64_t bytes) {
  return {static_cast<Collective>(what & 0xff), (what >> kNativeAt & 1) != 0,
          static_cast<std::uint8_t>(what >> kReductionAt), static_cast<std::int32_t>(what >> kRootAt), bytes};
}

// Whoever takes data of another length can tell.
bool may_have_other_counts(Collective collective) {
  return collective == Collective::bcast || collective == Collective::scatter || collective == Collective::gather;
}

}  // namespace

bool Difference::in_count_only() const {
  CallEntry same = theirs;
  same.bytes = mine.bytes;
  return same == mine;
}

std::size_t Ledger::memory_bytes(int ranks) {
  return sizeof(Shared) + (static_cast<std::size_t>(ranks) * kCalls * sizeof(Entry) + 127) / 128 * 128;
}

Ledger::Ledger(std::byte* memory, std::span<const int> ranks, std::size_t place)
    : shared_(reinterpret_cast<Shared*>(memory)),
      entries_(reinterpret_cast<Entry*>(memory + sizeof(Shared))),
      ranks_(ranks),
      place_(place) {}

std::uint16_t Ledger::enter(const CallEntry& call, bool unsure) {
  Entry& mine = entry(place_, ++number_);
  const std::uint64_t what = packed(call);
  // release: who sees one of these sees what was stored before, the 0 at least.
  mine.number.store(0, std::memory_order_relaxed);
  mine.what.store(unsure ? what | kUnsure : what, std::memory_order_release);
  mine.bytes.store(call.bytes, std::memory_order_release);
  mine.number.store(number_, std::memory_order_release);
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio (Knuth, volume 3, section 6.4)
  const std::uint64_t bytes = may_have_other_counts(call.collective) ? 0 : call.bytes;
  history_before_ = history_;
  history_ = (history_ + what) * kOdd;
  history_ = (history_ + (history_ >> 32) + bytes) * kOdd;
  return static_cast<std::uint16_t>(history_ >> 48);
}

void Ledger::confirm() {
  Atomic<std::uint64_t>& what = entry(place_, number_).what;
  what.store(what.load(std::memory_order_relaxed) & ~kUnsure, std::memory_order_release);
}

void Ledger::withdraw() {
  entry(place_, number_--).number.store(0, std::memory_order_release);
  history_ = history_before_;
}

std::optional<Ledger::Found> Ledger::read(std::size_t place, std::uint64_t number) const {
  const Entry& theirs = entry(place, number);
  if (theirs.number.load(std::memory_order_acquire) != number) return std::nullopt;
  const std::uint64_t what = theirs.what.load(std::memory_order_acquire);
  const std::uint64_t bytes = theirs.bytes.load(std::memory_order_acquire);
  if (theirs.number.load(std::memory_order_relaxed) != number) return std::nullopt;
  return Found{unpacked(what, bytes), (what & kUnsure) != 0};
}

std::optional<Difference> Ledger::find_difference(std::uint64_t number, bool patiently) const {
  const std::optional<Found> mine = read(place_, number);
  for (std::size_t place = 0; mine && place < ranks_.size(); ++place) {
    const std::optional<Found> theirs = read(place, number);
    if (!theirs || theirs->call == mine->call || (theirs->unsure && !patiently)) continue;
    const Difference difference{number, ranks_[place], theirs->call, mine->call};
    const bool tolerated = difference.in_count_only() && may_have_other_counts(mine->call.collective);
    if (!tolerated || (patiently && ranks_[place] == mine->call.root)) return difference;
  }
  return std::nullopt;
}

std::optional<Difference> Ledger::find_difference(bool patiently) const {
  for (std::uint64_t number = number_ < kCalls ? 1 : number_ - kCalls + 1; number <= number_; ++number) {
    if (auto found = find_difference(number, patiently && number == number_)) return found;
  }
  return std::nullopt;
}

}  // namespace stretto
