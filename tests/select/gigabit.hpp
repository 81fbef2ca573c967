// Emulated nodes at 1 gbit as a forecast sees them, and what serves a call there by default.
#pragma once

#include <string>

#include "select/forecast.hpp"
#include "select/rules.hpp"

namespace stretto {

// 30 us and 8 ns a byte between nodes, 1 us and 0.1 ns within; a message of 56 KiB leaves at once.
// Ranks of a node share its network, and unless a message within it takes little longer then, its cores.
inline Machine gigabit(const NodeLayout& layout, std::int64_t near_crowded_ns = 20'000) {
  const auto link = [](std::int64_t alpha_ns, std::int64_t byte_ps) {
    Link made;
    for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
      made.message.ns[i] = alpha_ns + static_cast<std::int64_t>(Curve::kLengths[i]) * byte_ps / 1000;
      made.gap.ns[i] = made.message.ns[i] - alpha_ns * 3 / 4;
    }
    made.eager_bytes = 56 << 10;
    return made;
  };
  Machine machine;
  machine.know(Level::machine, link(30'000, 8'000));
  machine.know(Level::node, link(1'000, 100));
  machine.crowded = {30'000, 8'000 * layout.most_on_a_node(), near_crowded_ns, 100};
  return machine;
}

// What serves a call of ranks that lie so, by a rule that knows the machine.
inline std::string chosen_between_nodes(Collective collective, std::size_t bytes, const NodeLayout& layout,
                                        bool commutative = true, ArrivalClass arrivals = ArrivalClass::balanced,
                                        std::int64_t near_crowded_ns = 20'000) {
  Forecast forecast(gigabit(layout, near_crowded_ns), layout, kBesideOpenMpi);
  CallFacts facts{collective, bytes, 8, commutative, layout.ranks, false, 0, false};
  facts.forecast = &forecast;
  facts.arrivals = arrivals;
  facts.shared_nodes.boards = layout.boards;
  facts.pool_window = layout.boards ? std::size_t{1} << 26 : 0;
  const Algorithm* const algorithm = choose({}, facts);
  return algorithm == nullptr ? "native" : std::string(algorithm->name);
}

}  // namespace stretto
