// How long making rank maps takes, and how much memory: of 1024 and of 100 000 ranks.
//
// `build/bin/stretto-mapping`, a line a map: the median of some repetitions. Nodes of two packages of 32 cores, 32
// nodes a switch; ranks placed one to each node in turn. The topology itself is made once a communicator, and listed
// first.

#include "compose/mapping.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "topology/split.hpp"

namespace stretto::bench {
namespace {

constexpr int kCoresOfPackage = 32;
constexpr int kPackagesOfNode = 2;
constexpr int kNodesOfSwitch = 32;
constexpr int kCoresOfNode = kCoresOfPackage * kPackagesOfNode;

Topology cluster(int ranks) {
  const int nodes = (ranks + kCoresOfNode - 1) / kCoresOfNode;
  std::vector<Unit> units{{-1, Level::machine, "all"}};
  std::vector<int> cores;  // node by node
  const auto add = [&](int parent, Level level, int number) {
    units.push_back({parent, level, std::to_string(number)});
    return static_cast<int>(units.size()) - 1;
  };
  int network_switch = 0;
  for (int node = 0; node < nodes; ++node) {
    if (node % kNodesOfSwitch == 0) network_switch = add(0, Level::network_switch, node / kNodesOfSwitch);
    const int unit = add(network_switch, Level::node, node);
    for (int package = 0; package < kPackagesOfNode; ++package) {
      const int within = add(unit, Level::package, package);
      for (int core = 0; core < kCoresOfPackage; ++core) cores.push_back(add(within, Level::core, core));
    }
  }
  std::vector<int> unit_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int core = rank % nodes * kCoresOfNode + rank / nodes;
    unit_of[static_cast<std::size_t>(rank)] = cores[static_cast<std::size_t>(core)];
  }
  return {std::move(units), std::move(unit_of)};
}

template <class Work>
double median_ms(int repetitions, Work work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return times[static_cast<std::size_t>(repetitions) / 2];
}

void measure(int ranks, int repetitions) {
  const auto print = [ranks](std::string_view what, double ms) {
    std::printf("%6d ranks  %-20s %10.3f ms\n", ranks, std::string(what).c_str(), ms);
  };
  print("topology", median_ms(repetitions, [&] { cluster(ranks); }));
  const Topology topology = cluster(ranks);
  for (const MapKind& kind : map_kinds()) {
    print(kind.name, median_ms(repetitions, [&] { kind.make(topology, 0); }));
  }
  Traffic ring;
  for (int rank = 0; rank + 1 < ranks; ++rank) ring.push_back({rank, rank + 1, 1});
  print("greedy, of a ring", median_ms(repetitions, [&] { map_greedy(topology, 0, ring); }));
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  print("split by nodes", median_ms(repetitions, [&] { split(topology, all, 0, 0); }));
}

}  // namespace
}  // namespace stretto::bench

int main() {
  stretto::bench::measure(1024, 101);
  stretto::bench::measure(100'000, 5);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory %.0f MiB\n", static_cast<double>(usage.ru_maxrss) / 1024);
}
