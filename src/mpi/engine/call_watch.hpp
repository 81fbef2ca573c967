// Looks, while a rank waits in a call, whether the others are in another one, or have failed, so that it would wait for
// ever.
#pragma once

#include <cstdint>
#include <optional>

#include "board/ledger.hpp"
#include "core/executor.hpp"
#include "core/platform.hpp"
#include "mpi/engine/failures.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// What became of a call that went wrong.
struct Fault {
  enum class Kind : std::uint8_t {
    none,
    truncated,        // there was more data than room; the call has ended
    different_calls,  // the call cannot end, and no other will follow
    revoked,          // another rank found that out in an earlier call
    failed_peer       // a process of the communicator has failed; no other call can follow
  };
  Kind kind = Kind::none;
  std::optional<Difference> difference{};
};

class CallWatch final : public Watchdog {
 public:
  /// `ledger` is nullptr where the ranks share no memory.
  CallWatch(Ledger* ledger, Platform& platform, const Failures& failures, const Channel& members)
      : ledger_(ledger), platform_(platform), failures_(failures), members_(members) {}

  /// Looks every 20 ms. Other counts alone are hopeless after a second: the data may be on its way.
  bool is_hopeless() override;
  /// What the latest look has found.
  bool is_over() const { return over_; }

  /// For a call that was stopped: why. The communicator is revoked.
  Fault find_fault();

 private:
  Ledger* ledger_;
  Platform& platform_;
  const Failures& failures_;
  const Channel& members_;
  bool look(std::int64_t now_ns);

  bool over_ = false;
  std::int64_t next_look_ns_ = 0;
  std::int64_t differ_since_ns_ = 0;  // 0: they do not
};

}  // namespace stretto::mpi
