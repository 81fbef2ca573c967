// A doorbell of a node: ranks that sleep while they wait listen to it, and whoever makes a call of MPI's rings.
//
// Whatever comes up for a rank's MPI library, a message, an atomic operation on its window, another's part of a
// collective, begins with some rank's call, and passes through Stretto. So nobody need look after MPI while nobody
// calls it. A caller pays for one look at `listeners`, and for a system call only where somebody sleeps.
#pragma once

#include <cstdint>

#include "core/atomic.hpp"

namespace stretto::shm {

/// In memory that the ranks of a node share; zeroed memory is the valid start.
struct alignas(128) Doorbell {
  Atomic<std::uint32_t> listeners;  // that sleep, or are about to: these see that it has rung
  Atomic<std::uint32_t> sleepers;   // of them
  Atomic<std::uint32_t> rings;      // so far: what they sleep on
  // Ranks that sleep on a signal, or are about to. Far from all that changes often, so that who publishes has it in its
  // cache: of the signal itself the other ranks have the line, which takes as long as a short call.
  alignas(128) Atomic<std::uint32_t> asleep;

  bool is_heard() const { return listeners.load(std::memory_order_seq_cst) > 0; }
  /// Returns how many it has woken.
  int ring();
  /// By each sleeper that a ring has woken. A ring itself wakes two: a caller must not pay for all ranks of a node.
  int pass_on();
};

}  // namespace stretto::shm
