// What it costs to choose between nodes (select/forecast.hpp): the whole table of a communicator, which is filled as
// calls come, its dearest cell, and a look-up. Prints a line for each layout of ranks.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "select/forecast.hpp"

namespace {

using namespace stretto;
using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// 1.5 us and 0.09 ns a byte between nodes, 0.7 us and 0.1 ns within.
Machine cluster() {
  const auto link = [](std::int64_t alpha_ns, std::int64_t byte_ps) {
    Link made;
    for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
      made.gap.ns[i] = alpha_ns / 5 + static_cast<std::int64_t>(Curve::kLengths[i]) * byte_ps / 1000;
      made.message.ns[i] = made.gap.ns[i] + alpha_ns * 4 / 5;
    }
    return made;
  };
  Machine machine;
  machine.know(Level::machine, link(1500, 90));
  machine.know(Level::node, link(700, 100));
  return machine;
}

void measure(const NodeLayout& layout) {
  constexpr Collective kChosen[] = {Collective::allreduce, Collective::reduce, Collective::bcast, Collective::allgather,
                                    Collective::reduce_scatter_block};
  constexpr int kDoublings = 27;
  constexpr std::size_t kLookUps = 10'000'000;
  Forecast forecast(cluster(), layout, {});
  double dearest_ns = 0;
  const auto begin = Clock::now();
  for (const Collective collective : kChosen) {
    for (int doubling = 0; doubling < kDoublings; ++doubling) {
      for (std::size_t quarter = 4; quarter < 8; ++quarter) {
        const auto cell = Clock::now();
        forecast.best(collective, quarter << doubling, true);
        dearest_ns = std::max(dearest_ns, ns_since(cell));
      }
    }
  }
  const double table_ns = ns_since(begin);
  const auto look_ups = Clock::now();
  std::size_t ours = 0;
  for (std::size_t i = 0; i < kLookUps; ++i) {
    ours += forecast.best(Collective::bcast, i * 977 % (1 << 20) + 1, true) != nullptr ? 1 : 0;
  }
  const double look_up_ns = ns_since(look_ups) / static_cast<double>(kLookUps);
  std::printf("%6d ranks on %5d nodes: table %.2f ms, dearest cell %.3f ms, look-up %.1f ns (%zu %% ours)\n",
              layout.ranks, layout.nodes, table_ns / 1e6, dearest_ns / 1e6, look_up_ns, 100 * ours / kLookUps);
}

}  // namespace

int main() {
  measure({2, 2});  // finds the algorithms
  for (const NodeLayout& layout : {NodeLayout{8, 8}, NodeLayout{16, 8, Placement::in_turn}, NodeLayout{1024, 1024},
                                   NodeLayout{1024, 16}, NodeLayout{100'000, 1000}}) {
    measure(layout);
  }
}
