// A word that one rank publishes and others wait for.
//
// `value` only moves forward (generation numbers, modulo 2^32), so nobody ever resets it and a waiter that looks late
// still sees that its moment has passed. `sleepers` counts ranks that sleep in the kernel on this word: a publisher
// makes a system call only when somebody does.
#pragma once

#include <cstdint>

#include "core/atomic.hpp"

namespace stretto {

struct Signal {
  Atomic<std::uint32_t> value;
  Atomic<std::uint32_t> sleepers;

  bool reached(std::uint32_t target) const {
    const std::uint32_t seen = value.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(seen - target) >= 0;
  }
};

}  // namespace stretto
