// The platform of ranks that SimGrid simulates: its clock, and work that takes the time we say.
#pragma once

#include "core/platform.hpp"
#include "transport/shm/node_platform.hpp"

namespace stretto::smpi {

/// In ns a byte, from STRETTO_SIM_GAMMA (reducing) and STRETTO_SIM_DELTA (copying); 0 if unset.
double cost_of(Work work);

class SimulatedPlatform final : public Platform {
 public:
  explicit SimulatedPlatform(const shm::NodeFacts& facts);

  std::int64_t now_ns() override;
  void publish(Signal& signal, std::uint64_t value) override;
  void watching(Signal&, std::uint64_t) override {}
  /// Sleeps in simulated time, in which a spinning rank would stay for ever.
  void idle(Signal* sole, std::uint64_t target, unsigned idle_rounds) override;
  void charge(Work work, std::size_t bytes) override;
  bool can_read_peers() const override { return facts_.processes != nullptr && !facts_.processes->empty(); }
  /// All ranks are in this process; a copy from another's memory takes what any copy does.
  bool read_peer(int peer, void* to, std::uint64_t address, std::size_t bytes) override;

 private:
  shm::NodeFacts facts_;
  double gamma_ns_per_byte_;
  double delta_ns_per_byte_;
  double owed_ns_ = 0;  // charged and not yet slept: less than a nanosecond
};

}  // namespace stretto::smpi
