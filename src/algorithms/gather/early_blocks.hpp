// Blocks that a gather's root receives before the program is there to take them.
#pragma once

#include <vector>

#include "algorithms/parts/blocks.hpp"

namespace stretto {

/// Where the root receives blocks: where they belong or, before it is there, in memory that keeps them.
class EarlyBlocks {
 public:
  EarlyBlocks(Group& g, Call& call)
      : g_(g),
        call_(call),
        memory_(g.scratch(call.is_here() ? 0 : static_cast<std::size_t>(g.size()) * call.bytes())),
        kept_(static_cast<std::size_t>(g.size())) {}

  /// For a receive of the block of `rank` that begins now.
  std::byte* place(int rank) {
    kept_[static_cast<std::size_t>(rank)] = !call_.is_here();
    return (call_.is_here() ? call_.output : memory_.data()) + offset(call_, block_of(call_, rank));
  }

  /// The program is there, and so is the block of `rank`, which moves to where it belongs.
  void move_in(int rank) {
    if (!kept_[static_cast<std::size_t>(rank)]) return;
    const Block theirs = block_of(call_, rank);
    g_.copy(call_.output + offset(call_, theirs), memory_.data() + offset(call_, theirs), bytes(call_, theirs));
  }

 private:
  Group& g_;
  Call& call_;
  Scratch memory_;
  std::vector<bool> kept_;  // by rank
};

}  // namespace stretto
