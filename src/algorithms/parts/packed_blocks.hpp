// The blocks of all ranks side by side, for messages of several blocks.
#pragma once

#include <vector>

#include "algorithms/parts/blocks.hpp"

namespace stretto {

/// Places for the blocks of a call, in the order of ranks from rank `first` on and around.
class PackedBlocks {
 public:
  PackedBlocks(const Group& g, const Call& call, int first = 0) : first_(first) {
    places_.reserve(static_cast<std::size_t>(g.size()));
    std::size_t at = 0;
    for (int index = 0; index < g.size(); ++index) {
      const std::size_t count = block_of(call, rank_at(index, g.size())).count;
      places_.push_back({at, count});
      at += count;
    }
  }

  /// So many blocks, at least one, from the one with number `index` on.
  Block run(int index, int blocks) const {
    const Block& from = places_[static_cast<std::size_t>(index)];
    const Block& to = places_[static_cast<std::size_t>(index + blocks - 1)];
    return {from.first, to.first + to.count - from.first};
  }
  Block all() const { return run(0, size()); }
  const Block* data() const { return places_.data(); }

  /// Whether the blocks of the call are in these places already.
  bool are_those_of(const Call& call) const {
    for (int index = 0; index < size(); ++index) {
      const Block place = run(index, 1);
      if (place.count > 0 && block_of(call, rank_at(index, size())).first != place.first) return false;
    }
    return true;
  }

  void copy_in(Group& g, const Call& call, std::byte* packed) const {
    for (int index = 0; index < size(); ++index) {
      const Block theirs = block_of(call, rank_at(index, size()));
      g.copy(packed + offset(call, run(index, 1)), call.input + offset(call, theirs), bytes(call, theirs));
    }
  }
  void copy_out(Group& g, const Call& call, const std::byte* packed) const {
    for (int index = 0; index < size(); ++index) {
      const Block theirs = block_of(call, rank_at(index, size()));
      g.copy(call.output + offset(call, theirs), packed + offset(call, run(index, 1)), bytes(call, theirs));
    }
  }

 private:
  int size() const { return static_cast<int>(places_.size()); }
  int rank_at(int index, int size) const { return (first_ + index) % size; }

  int first_;
  std::vector<Block> places_;
};

}  // namespace stretto
