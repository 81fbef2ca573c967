// Platform: what the engine takes from the machine below it. One small seam, so that the same algorithms run on a real
// node, on virtual ranks in virtual time, and under a simulator that owns the clock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/signal.hpp"

namespace stretto {

enum class Work { copy, reduce };

class Platform {
 public:
  virtual ~Platform() = default;

  /// This rank's clock. Ranks on one node share it.
  virtual std::int64_t now_ns() = 0;

  /// Moves `signal` forward to `value` and wakes whoever waits for it. Release: what this rank wrote before is visible
  /// to whoever has seen the value.
  virtual void publish(Signal& signal, std::uint64_t value) = 0;

  /// A coroutine of this rank has begun to wait for `signal`. Only platforms without a polling driver care.
  virtual void watching(Signal& signal, std::uint64_t target) = 0;

  /// Whether to look once more at once, after `looks` in a row, for what comes in a moment; where not, the driver
  /// waits.
  virtual bool may_look_again(unsigned) const { return false; }

  /// The driver found nothing to do `idle_rounds` times in a row. If `sole` is not null, only the publication of
  /// that signal can change this, so the platform may sleep on it.
  virtual void idle(Signal* sole, std::uint64_t target, unsigned idle_rounds) = 0;

  /// Says that work has been done on `bytes` bytes: advances virtual time, nothing on a real machine.
  virtual void charge(Work work, std::size_t bytes) = 0;

  /// Copies to `to` from `address` in the memory of a rank of this node, the `peer`th there (single copy). False if
  /// this memory cannot be read.
  virtual bool read_peer(int peer, void* to, std::uint64_t address, std::size_t bytes) = 0;
  virtual bool can_read_peers() const = 0;
};

}  // namespace stretto
