// Stripes: all ranks reduce into one shared accumulator, chunk by chunk, as they come.
//
// The accumulator lies in the board's pool. A rank adds its own chunks when it arrives, starting at a different chunk
// than the others, and skips chunks that somebody else holds. So when the last rank comes, everything but its own data
// is reduced already; idle ranks then take its chunks by single copy, and all share the work that is left.
#pragma once

#include <bitset>

#include "board/board.hpp"

namespace stretto {

class Stripes {
 public:
  /// Cuts `call`, which fits into the pool's window, and arrives.
  Stripes(Group& g, const Call& call) : Stripes(g, call, g.size()) {}
  /// The same, cut as for `ranks` ranks: alike on nodes with different numbers of them.
  Stripes(Group& g, const Call& call, int ranks);

  std::size_t chunks() const { return chunks_; }
  /// The elements of some chunks, and where they lie in the pool.
  Block elements(Block chunks) const {
    const std::size_t first = first_of(chunks.first);
    return {first, std::min(chunks.count * chunk_count_, call_.count - first)};
  }
  std::byte* in_pool(Block elements) const { return board_.pool() + elements.first * call_.element_bytes; }

  /// Adds all of this rank's data. With `copy_finished`, chunks that it finishes are copied to the output while in
  /// cache.
  Task contribute(bool copy_finished);

  /// Copies every chunk to the output as it is finished, and helps the last arriver meanwhile.
  Task collect() { return each_finished({0, chunks_}, /*copy=*/true); }
  /// Until some chunks are finished, where they lie. Helps the last arriver with these.
  Task finish(Block chunks) { return each_finished(chunks, /*copy=*/false); }

 private:
  bool last() const { return position_ + 1 == g_.size(); }
  bool finished(std::size_t chunk) { return board_.has(board_.chunk(chunk).finished); }
  std::size_t first_of(std::size_t chunk) const { return chunk * chunk_count_; }
  std::size_t count_of(std::size_t chunk) const { return std::min(chunk_count_, call_.count - first_of(chunk)); }

  Task each_finished(Block chunks, bool copy);
  bool apply_mine(std::size_t chunk);  // false: somebody else holds the chunk
  void apply_last(std::size_t chunk);
  void add(Chunk& control, std::size_t chunk, const std::byte* data, bool from_last);
  void copy_out(std::size_t chunk);

  Group& g_;
  const Call call_;
  Board& board_;
  std::size_t chunk_count_;  // elements a chunk
  std::size_t chunks_;
  int position_;
  std::bitset<Board::kMaxChunks> collected_;
};

}  // namespace stretto
