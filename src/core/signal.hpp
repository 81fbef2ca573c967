// A word that one rank publishes and others wait for.
//
// `value` only moves forward (numbers of calls: 64 bits, which never run out), so nobody ever resets it and a waiter
// that looks late still sees that its moment has passed. `sleepers` counts ranks that sleep in the kernel on this word:
// a publisher makes a system call only when somebody does.
#pragma once

#include <cstdint>

#include "core/atomic.hpp"

namespace stretto {

struct Signal {
  Atomic<std::uint64_t> value;
  Atomic<std::uint32_t> sleepers;

  bool reached(std::uint64_t target) const { return value.load(std::memory_order_acquire) >= target; }
};

}  // namespace stretto
