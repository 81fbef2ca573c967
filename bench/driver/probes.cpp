#include "probes.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "clock.hpp"
#include "random.hpp"

namespace stretto::bench {
namespace {

volatile std::uint64_t result_sink;

void run_steps(std::int64_t steps) {
  std::uint64_t state = result_sink;
  for (std::int64_t i = 0; i < steps; ++i) state = scatter_bits(state);
  result_sink = state;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

double measure_steps_per_ns() {
  constexpr std::int64_t steps = 500'000;
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  for (int trial = 0; trial < 20; ++trial) {
    const std::int64_t begin = now_ns();
    run_steps(steps);
    best_ns = std::min(best_ns, now_ns() - begin);
  }
  return static_cast<double>(steps) / static_cast<double>(best_ns);
}

}  // namespace

ComputeLoad::ComputeLoad(World& world) {
  const double measured = world.rank() == 0 ? measure_steps_per_ns() : 0.0;
  steps_per_ns_ = world.share(measured);
}

void ComputeLoad::run(std::int64_t duration_ns) const {
  run_steps(static_cast<std::int64_t>(static_cast<double>(duration_ns) * steps_per_ns_));
}

std::int64_t measure_copy_bound_ns(World& world, std::size_t bytes, int copies) {
  const int workers = std::min(world.size(), usable_cores());
  const std::size_t share = bytes * static_cast<std::size_t>(copies) / static_cast<std::size_t>(workers);
  const bool works = world.rank() < workers && share > 0;
  std::vector<std::byte> source(works ? bytes : 0);
  std::vector<std::byte> target(works ? share : 0);
  constexpr int trials = 12;
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  for (int trial = 0; trial < trials; ++trial) {
    sleep_until_ns(world.agree_on_start(500'000));
    if (!works) sleep_until_ns(now_ns() + 1'000'000);  // stay off the cores that are being measured
    const std::int64_t begin = now_ns();
    for (std::size_t done = 0; works && done < share; done += bytes)
      std::memcpy(target.data() + done, source.data(), std::min(bytes, share - done));
    const std::int64_t mine = works ? now_ns() - begin : 0;
    const std::vector<std::byte> all = world.gather(&mine, sizeof(mine));
    std::int64_t slowest_ns = 0;
    for (std::size_t offset = 0; offset < all.size(); offset += sizeof(mine)) {
      std::int64_t one = 0;
      std::memcpy(&one, all.data() + offset, sizeof(one));
      slowest_ns = std::max(slowest_ns, one);
    }
    best_ns = std::min(best_ns, slowest_ns);
    world.quiet_barrier();
  }
  return static_cast<std::int64_t>(world.share(static_cast<double>(best_ns)));
}

double measure_copy_bandwidth(World& world) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const int copies = std::min(world.size(), usable_cores());
  const std::int64_t best_ns = measure_copy_bound_ns(world, bytes, copies);
  return static_cast<double>(bytes) * copies / static_cast<double>(best_ns);
}

}  // namespace stretto::bench
