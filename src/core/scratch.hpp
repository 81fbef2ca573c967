// Working memory of algorithms, kept between calls: a fresh 8 MB buffer costs 2048 page faults.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace stretto {

class ScratchPool;

class Scratch {
 public:
  Scratch(Scratch&& other) noexcept : pool_(other.pool_), block_(other.block_) { other.block_ = nullptr; }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  std::byte* data() const { return block_->memory; }

 private:
  friend class ScratchPool;
  struct Block {
    std::byte* memory;
    std::size_t bytes;
  };
  Scratch(ScratchPool& pool, Block* block) : pool_(&pool), block_(block) {}

  ScratchPool* pool_;
  Block* block_;
};

class ScratchPool {
 public:
  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  ~ScratchPool() {
    for (Scratch::Block* block : free_) release(block);
  }

  /// At least `bytes` bytes, aligned to a cache line.
  Scratch take(std::size_t bytes) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i]->bytes < bytes) continue;
      Scratch::Block* block = free_[i];
      free_[i] = free_.back();
      free_.pop_back();
      return {*this, block};
    }
    const std::size_t rounded = (bytes + kLine) / kLine * kLine;
    auto* memory = static_cast<std::byte*>(::operator new (rounded, std::align_val_t{kLine}));
    return {*this, new Scratch::Block{memory, rounded}};
  }

 private:
  friend class Scratch;
  static constexpr std::size_t kLine = 128;
  static constexpr std::size_t kKept = 4;

  static void release(Scratch::Block* block) {
    ::operator delete (block->memory, std::align_val_t{kLine});
    delete block;
  }
  void give(Scratch::Block* block) {
    free_.push_back(block);
    if (free_.size() <= kKept) return;
    release(free_.front());
    free_.erase(free_.begin());
  }

  std::vector<Scratch::Block*> free_;
};

inline Scratch::~Scratch() {
  if (block_ != nullptr) pool_->give(block_);
}

}  // namespace stretto
