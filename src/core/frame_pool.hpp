// Recycled memory for coroutine frames: a collective on 8 bytes must not pay for malloc.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace stretto {

/// Per thread; free lists by size in steps of 64 bytes up to 4 KiB, larger frames come from the heap.
class FramePool {
 public:
  static void* take(std::size_t bytes) {
    const std::size_t bin = bin_of(bytes);
    if (bin >= kBins) return ::operator new(bytes);
    FreeFrame*& head = local().free_[bin];
    if (head == nullptr) return ::operator new(bin* kStep);
    FreeFrame* frame = head;
    head = frame->next;
    return frame;
  }

  static void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t bin = bin_of(bytes);
    if (bin >= kBins) {
      ::operator delete(memory);
      return;
    }
    FreeFrame*& head = local().free_[bin];
    head = new (memory) FreeFrame{head};
  }

  ~FramePool() {
    for (FreeFrame* frame : free_) {
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
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kBins = 65;

  static std::size_t bin_of(std::size_t bytes) { return (bytes + kStep - 1) / kStep; }
  static FramePool& local() {
    thread_local FramePool pool;
    return pool;
  }

  std::array<FreeFrame*, kBins> free_{};
};

}  // namespace stretto
