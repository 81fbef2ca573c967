// Words of ranks of one node, in the memory that they share.
#pragma once

#include "core/atomic.hpp"
#include "core/remote_words.hpp"

namespace stretto::shm {

class SharedWords final : public RemoteWords {
 public:
  /// Bytes of zeroed, aligned shared memory.
  static std::size_t memory_bytes(int ranks) {
    return static_cast<std::size_t>(ranks) * kWordsOfRank * sizeof(Atomic<std::uint64_t>);
  }

  explicit SharedWords(std::byte* memory) : words_(reinterpret_cast<Atomic<std::uint64_t>*>(memory)) {}

  std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected, std::uint64_t desired) override {
    // Whoever takes a word out goes on with messages, which order what they carry.
    words_[static_cast<std::size_t>(home) * kWordsOfRank + index].compare_exchange(expected, desired,
                                                                                   std::memory_order_acq_rel);
    return expected;
  }

 private:
  Atomic<std::uint64_t>* words_;
};

}  // namespace stretto::shm
