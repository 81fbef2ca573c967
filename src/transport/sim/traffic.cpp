#include "transport/sim/traffic.hpp"

#include <map>
#include <utility>
#include <vector>

#include "transport/sim/world.hpp"

namespace stretto::sim {
namespace {

void combine_nothing(const void*, void*, std::size_t, const void*) {}

}  // namespace

Traffic record_traffic(const Algorithm& algorithm, int ranks, std::size_t count) {
  std::map<std::pair<int, int>, double> bytes_between;
  Options options;
  options.ranks = ranks;
  options.shared_memory = false;
  options.move_data = false;
  options.on_send = [&](int from, int to, std::size_t bytes) {
    bytes_between[std::minmax(from, to)] += static_cast<double>(bytes);
  };
  // All ranks use the same buffers: nothing depends on what is in them.
  std::vector<std::byte> input(count * sizeof(double)), output(input.size());
  Reduction reduction;
  reduction.combine = &combine_nothing;
  reduction.element_bytes = sizeof(double);
  Call call;
  call.input = input.data();
  call.output = output.data();
  call.count = count;
  call.element_bytes = sizeof(double);
  call.reduction = &reduction;
  World world(options);
  world.run([&](Group& g) { return run_algorithm(g, algorithm, call); });

  Traffic traffic;
  for (const auto& [pair, bytes] : bytes_between) traffic.push_back({pair.first, pair.second, bytes});
  return traffic;
}

}  // namespace stretto::sim
