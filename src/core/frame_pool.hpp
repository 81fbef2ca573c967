// Recycled memory for coroutine frames: a collective on 8 bytes must not pay for malloc.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace stretto {

/// Per thread; free lists by size in steps of 64 bytes up to 4 KiB, larger frames come from the heap. A frame may be
/// given back on another thread than took it, so lists are bounded.
class FramePool {
 public:
  static void* take(std::size_t bytes) {
    const std::size_t bin = bin_of(bytes);
    if (bin >= kBins) return ::operator new(bytes);
    List& list = local().free_[bin];
    if (list.head == nullptr) return ::operator new(bin* kStep);
    FreeFrame* frame = list.head;
    list.head = frame->next;
    --list.length;
    return frame;
  }

  static void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t bin = bin_of(bytes);
    if (bin >= kBins || local().free_[bin].length == kMostKept) {
      ::operator delete(memory);
      return;
    }
    List& list = local().free_[bin];
    list.head = new (memory) FreeFrame{list.head};
    ++list.length;
  }

  ~FramePool() {
    for (const List& list : free_) {
      FreeFrame* frame = list.head;
      while (frame != nullptr) {
        FreeFrame* next = frame->next;
        ::operator delete(frame);
        frame = next;
      }
    }
  }

 private:
  struct FreeFrame {
    FreeFrame* next;
  };
  struct List {
    FreeFrame* head = nullptr;
    std::size_t length = 0;
  };
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kMostKept = 4096;
  static constexpr std::size_t kBins = 65;

  static std::size_t bin_of(std::size_t bytes) { return (bytes + kStep - 1) / kStep; }
  static FramePool& local() {
    thread_local FramePool pool;
    return pool;
  }

  std::array<List, kBins> free_{};
};

}  // namespace stretto
