// Cutting a message into blocks, always between elements.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/group.hpp"

namespace stretto {

/// Block `index` of `parts` nearly equal ones; the first `count % parts` are one element longer.
inline Block even_block(std::size_t count, std::size_t parts, std::size_t index) {
  const std::size_t base = count / parts;
  const std::size_t longer = count % parts;
  return {index * base + std::min(index, longer), base + (index < longer ? 1 : 0)};
}

/// The elements of `parts` even blocks from block `index` on, `blocks` of them.
inline Block even_blocks(std::size_t count, std::size_t parts, std::size_t index, std::size_t blocks) {
  const std::size_t first = even_block(count, parts, index).first;
  const std::size_t end = index + blocks == parts ? count : even_block(count, parts, index + blocks).first;
  return {first, end - first};
}

/// Of a call with a block for each rank, that of `rank`; of alltoall, the one that goes to it.
inline Block block_of(const Call& call, int rank) {
  if (call.blocks != nullptr) return call.blocks[rank];
  return {static_cast<std::size_t>(rank) * std::max(call.stride, call.count), call.count};
}

/// Of alltoall, the block that comes from `rank`.
inline Block output_block_of(const Call& call, int rank) {
  if (call.output_blocks != nullptr) return call.output_blocks[rank];
  return {static_cast<std::size_t>(rank) * std::max(call.stride, call.count), call.count};
}

/// Of a call with a length for each rank, all of which every rank knows, the longest block; of others a block, or the
/// message. In bytes.
inline std::size_t longest_bytes(const Group& g, const Call& call) {
  if (call.blocks == nullptr) return call.bytes();
  const Block* const end = call.blocks + g.size();
  return std::max_element(call.blocks, end, [](Block a, Block b) { return a.count < b.count; })->count *
         call.element_bytes;
}

/// The call on `block` alone; where each rank has a block, all of them equal, on these elements of every one.
inline Call part_of(Call call, Block block) {
  call.stride = std::max(call.stride, call.count);
  const std::size_t at = block.first * call.element_bytes;
  if (call.input != nullptr) call.input += at;
  if (call.output != nullptr) call.output += at;
  call.count = block.count;
  return call;
}

inline std::size_t offset(const Call& call, Block block) { return block.first * call.element_bytes; }
inline std::size_t bytes(const Call& call, Block block) { return block.count * call.element_bytes; }

/// From among the blocks of all: what is left to the scatter's root.
inline void take_own_block(Group& g, const Call& call) {
  const Block mine = block_of(call, g.rank());
  g.copy(call.output, call.input + offset(call, mine), bytes(call, mine));
}

/// Among the blocks of all: what is left to the gather's root.
inline void put_own_block(Group& g, const Call& call) {
  const Block mine = block_of(call, g.rank());
  g.copy(call.output + offset(call, mine), call.input, bytes(call, mine));
}

}  // namespace stretto
