// The ranks of a node tell each other a few words, in the memory that they share: for what they must agree on.
//
// Not over MPI, as some may never come where a program is wrong (ledger.hpp), and there is no taking back a collective
// of the MPI library. Each rank has a place for even and one for odd rounds: nobody is in round k + 2 before all have
// left round k.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/executor.hpp"

namespace stretto {

class Agreement {
 public:
  using Words = std::array<std::uint64_t, 4>;

  /// Bytes of zeroed, line-aligned shared memory.
  static std::size_t memory_bytes(int ranks) { return static_cast<std::size_t>(ranks) * sizeof(Place); }
  Agreement(std::byte* memory, int ranks, int rank)
      : places_(reinterpret_cast<Place*>(memory)), ranks_(ranks), rank_(rank) {}

  /// What all ranks have given, by rank; nothing where `watch` gives up waiting for them. Called by all ranks alike.
  std::vector<Words> exchange(const Words& mine, Platform& platform, Watchdog& watch);

 private:
  struct alignas(128) Place {
    Signal round;
    std::array<Words, 2> words;
  };

  Place* places_;
  int ranks_;
  int rank_;
  std::uint64_t round_ = 0;
};

}  // namespace stretto
