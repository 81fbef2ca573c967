#include "simulated_platform.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/clock.hpp"
#include "simulated_sleep.hpp"

namespace stretto::smpi {
namespace {

// The first is what a look at another rank's cache line costs, and the last what a waiting rank may oversleep.
constexpr std::int64_t kShortestSleepNs = 100;
constexpr unsigned kMostDoublings = 5;  // to 3.2 us

}  // namespace

double cost_of(Work work) {
  const char* value = std::getenv(work == Work::reduce ? "STRETTO_SIM_GAMMA" : "STRETTO_SIM_DELTA");
  return value == nullptr ? 0 : std::strtod(value, nullptr);
}

SimulatedPlatform::SimulatedPlatform(const shm::NodeFacts& facts)
    : facts_(facts), gamma_ns_per_byte_(cost_of(Work::reduce)), delta_ns_per_byte_(cost_of(Work::copy)) {}

std::int64_t SimulatedPlatform::now_ns() { return monotonic_ns(); }

void SimulatedPlatform::publish(Signal& signal, std::uint64_t value) {
  signal.value.store(value, std::memory_order_release);
}

void SimulatedPlatform::idle(Signal*, std::uint64_t, unsigned idle_rounds) {
  sleep_ns(kShortestSleepNs << std::min(idle_rounds, kMostDoublings));
}

void SimulatedPlatform::charge(Work work, std::size_t bytes) {
  const double rate = work == Work::reduce ? gamma_ns_per_byte_ : delta_ns_per_byte_;
  owed_ns_ += rate * static_cast<double>(bytes);
  const double whole = std::floor(owed_ns_);
  owed_ns_ -= whole;
  sleep_ns(static_cast<std::int64_t>(whole));
}

bool SimulatedPlatform::read_peer(int, void* to, std::uint64_t address, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  charge(Work::copy, bytes);
  return true;
}

}  // namespace stretto::smpi
