// Memory for large messages, which boards of the same ranks may share: a call takes one half of it when all ranks have
// left the latest call that used that half, on whichever board.
//
// Boards may share one only if all ranks make their calls on all of these boards in the same order, as ranks do that
// have one thread for MPI (docs/decisions/0022-memory-of-a-node.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/signal.hpp"

namespace stretto {

struct alignas(128) Presence {
  Signal left;  // the latest call that this rank is done with: nothing of it is read or written any more
};

struct Pool {
  /// A call on a board, by which its ranks can be seen to have left.
  struct Use {
    std::span<Presence> ranks{};
    std::uint64_t call = 0;
    std::shared_ptr<const void> board_memory{};  // where these are

    /// Whether they have left that call.
    bool is_left() const {
      return std::ranges::all_of(ranks, [&](const Presence& rank) { return rank.left.reached(call); });
    }
  };

  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  std::array<Use, 2> latest{};  // of each half

  /// Whether the ranks of all calls so far have left it. A rank may begin another at any time.
  bool is_left() const {
    return std::ranges::all_of(latest, [](const Use& use) { return use.is_left(); });
  }

  /// The largest message that one call can hold: half of it, as calls alternate between the halves.
  std::size_t window() const { return bytes / 2; }
};

}  // namespace stretto
