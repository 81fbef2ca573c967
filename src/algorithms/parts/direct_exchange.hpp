// Every rank sends a block to every other, without detours: alltoall, and allgather as the alltoall in which a rank has
// the same block for everybody.
#pragma once

#include <vector>

#include "algorithms/parts/packed_blocks.hpp"

namespace stretto {

/// An alltoall whose input stays as it is when blocks arrive: in place, a copy.
class KeptInput {
 public:
  KeptInput(Group& g, const Call& call)
      : call_(call), places_(g, call), memory_(g.scratch(call.input == call.output ? bytes(call, places_.all()) : 0)) {
    if (call.input != call.output) return;
    places_.copy_in(g, call, memory_.data());
    call_.input = memory_.data();
    call_.output_blocks = call.output_blocks != nullptr ? call.output_blocks : call.blocks;
    call_.blocks = places_.data();
  }
  const Call& call() const { return call_; }

 private:
  Call call_;
  PackedBlocks places_;
  Scratch memory_;
};

/// An allgather as an alltoall, with the own block where it belongs.
class OwnBlockForAll {
 public:
  OwnBlockForAll(Group& g, const Call& call)
      : call_(call), blocks_(static_cast<std::size_t>(g.size()), Block{0, call.count}) {
    put_own_block(g, call);
    call_.input = call.output + offset(call, block_of(call, g.rank()));
    call_.output_blocks = call.blocks;
    call_.blocks = blocks_.data();
  }
  const Call& call() const { return call_; }

 private:
  Call call_;
  std::vector<Block> blocks_;
};

inline Transfer send_block(Group& g, const Call& call, int to) {
  const Block block = block_of(call, to);
  return g.send(call.input + offset(call, block), bytes(call, block), to);
}
inline Transfer receive_block_from(Group& g, const Call& call, int from) {
  const Block block = output_block_of(call, from);
  return g.recv(call.output + offset(call, block), bytes(call, block), from);
}
inline void copy_own_block(Group& g, const Call& call) {
  const Block from = block_of(call, g.rank());
  const Block to = output_block_of(call, g.rank());
  g.copy(call.output + offset(call, to), call.input + offset(call, from), bytes(call, from));
}

/// The other ranks from the next one on, so that not all begin with the same.
inline int rank_after(const Group& g, int steps) { return (g.rank() + steps) % g.size(); }
inline int rank_before(const Group& g, int steps) { return (g.rank() + g.size() - steps) % g.size(); }

/// All messages at once.
Task exchange_at_once(Group& g, const Call& call);
/// To each rank when it has announced itself.
Task exchange_as_announced(Group& g, const Call& call);

}  // namespace stretto
