// Which algorithms have served the program's calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "catalogue/catalogue.hpp"

namespace stretto::mpi {

/// Of one collective. What a call that is passed on touches lies in one line.
class alignas(64) Served {
 public:
  /// nullptr: native. `alone`: no other thread of the process counts meanwhile. Else the word is locked, which waits
  /// for all that the call has written to be seen by the other cores: 5 to 25 ns.
  void count(const Algorithm* algorithm, bool alone) {
    last_.store(algorithm == nullptr ? "native" : algorithm->name.data(), std::memory_order_relaxed);
    std::atomic<std::uint64_t>& calls = counts_[algorithm == nullptr ? 0 : algorithm->number + 1];
    if (alone) {
      calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      calls.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// "" before the first call.
  const char* last() const {
    const char* name = last_;
    return name == nullptr ? "" : name;
  }
  void report(const std::string& collective) const;

 private:
  std::atomic<const char*> last_{nullptr};
  std::array<std::atomic<std::uint64_t>, kMostAlgorithms + 1> counts_{};  // by algorithm; 0: native
};

}  // namespace stretto::mpi
