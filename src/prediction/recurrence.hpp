// Which call follows which on a communicator: all its ranks see the same calls, so all expect the same next one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace stretto {

/// What all ranks of a call know alike of it.
struct Signature {
  int collective;
  int root;
  std::size_t bytes;
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Numbers the signatures it meets, and expects after each what followed it the last time.
class Recurrence {
 public:
  static constexpr std::size_t kMost = 32;  // of a communicator that uses more, the oldest gives way

  /// Notes a call and returns its signature's number, below kMost. `fresh` is set if the number is new or was taken
  /// from another signature.
  std::size_t note(const Signature& signature, bool& fresh) {
    fresh = false;
    std::size_t number = 0;
    while (number < known_.size() && known_[number].signature != signature) ++number;
    if (number == known_.size()) {
      fresh = true;
      if (known_.size() < kMost) {
        known_.push_back({signature, kNone});
      } else {
        number = oldest_;
        oldest_ = (oldest_ + 1) % kMost;
        for (Seen& known : known_)
          if (known.next == number) known.next = kNone;
        known_[number] = {signature, kNone};
      }
    }
    if (latest_ != kNone) known_[latest_].next = number;
    latest_ = number;
    return number;
  }

  /// The number of the call that is expected next.
  std::optional<std::size_t> next() const {
    if (latest_ == kNone || known_[latest_].next == kNone) return std::nullopt;
    return known_[latest_].next;
  }
  const Signature& signature(std::size_t number) const { return known_[number].signature; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Seen {
    Signature signature;
    std::size_t next;
  };
  std::vector<Seen> known_;
  std::size_t latest_ = kNone;
  std::size_t oldest_ = 0;
};

}  // namespace stretto
