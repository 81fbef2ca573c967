// Words at every rank of a communicator that all its ranks can change, without that rank's doing where the network can.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stretto {

class RemoteWords {
 public:
  static constexpr std::size_t kWordsOfRank = 64;
  static constexpr unsigned kNumberBits = 40;

  virtual ~RemoteWords() = default;

  /// Makes word `index` of rank `home` of the communicator `desired` where it is `expected`, and returns what it was.
  /// All are 0 at first. Takes the time of one message there and one back.
  virtual std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected,
                                         std::uint64_t desired) = 0;

  /// Calls that use words have numbers, the same on all ranks, and so have their segments: never 0, of kNumberBits, and
  /// others than those of a million calls before.
  std::uint64_t number_next_call() { return (calls_++ % kMostCalls + 1) << kSegmentBits; }
  static std::uint64_t number_of_segment(std::uint64_t call, std::size_t segment) {
    return call + segment % (std::size_t{1} << kSegmentBits);
  }
  /// Which word is that of a call or segment; those that follow one another have others.
  static std::size_t index_of(std::uint64_t number) {
    return static_cast<std::size_t>(number ^ (number >> kSegmentBits)) % kWordsOfRank;
  }

 private:
  static constexpr unsigned kSegmentBits = 20;
  static constexpr std::uint64_t kMostCalls = (std::uint64_t{1} << (kNumberBits - kSegmentBits)) - 1;

  std::uint64_t calls_ = 0;
};

}  // namespace stretto
