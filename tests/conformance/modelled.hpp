// What the model says that an algorithm takes: on virtual ranks whose messages carry nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "core/reduction.hpp"
#include "transport/sim/world.hpp"

namespace stretto::conformance {

/// Where a call is made: ranks, of which so many follow each other on a node, and bytes of a message or a block.
struct Place {
  int ranks;
  int ranks_per_node;
  std::size_t bytes;
};

using Times = std::vector<std::int64_t>;

inline void combine_nothing(const void*, void*, std::size_t, const void*) {}

inline bool has_blocks(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::alltoall:
    case Collective::reduce_scatter_block:
    case Collective::gather:
    case Collective::scatter:
      return true;
    default:
      return false;
  }
}

/// Within a node bytes take less, too.
inline sim::Options make_machine() {
  sim::Options machine;
  machine.intra.beta_ns_per_byte = 0.04;
  return machine;
}

/// What a call takes: from the last arrival to the last exit, and what the ranks spend in it, in the mean over them.
struct Taken {
  std::int64_t lag_ns;
  double mean_ns;
};

/// On a machine of such links.
inline Taken take(const Algorithm& algorithm, const Place& place, const Times& arrivals,
                  sim::Options options = make_machine()) {
  options.ranks = place.ranks;
  options.ranks_per_node = place.ranks_per_node;
  options.arrivals_ns = arrivals;
  options.shared_memory = algorithm.uses_node_memory();
  options.move_data = false;
  Reduction reduction = predefined_reduction(Operation::sum, Element::float32);
  reduction.combine = &combine_nothing;
  const std::size_t blocks = has_blocks(algorithm.collective) ? static_cast<std::size_t>(place.ranks) : 1;
  std::vector<std::byte> input(place.bytes * blocks);  // of all ranks: no time depends on what is in it
  std::vector<std::byte> output(place.bytes * blocks);
  sim::World world(options);
  const Times exits = world.run([&](Group& g) {
    Call call;
    call.element_bytes = 4;
    call.count = place.bytes / 4;
    call.reduction = &reduction;
    call.input = input.data();
    const bool to_root = algorithm.collective == Collective::reduce || algorithm.collective == Collective::gather;
    if (!to_root || g.rank() == call.root) call.output = output.data();
    if (algorithm.collective == Collective::bcast) call.input = call.output;
    return run_algorithm(g, algorithm, call);
  });
  double inside_ns = 0;
  for (std::size_t rank = 0; rank < exits.size(); ++rank)
    inside_ns += static_cast<double>(exits[rank] - arrivals[rank]);
  return {std::ranges::max(exits) - std::ranges::max(arrivals), inside_ns / static_cast<double>(place.ranks)};
}

/// From the last arrival to the last exit alone.
inline std::int64_t lag_ns(const Algorithm& algorithm, const Place& place, const Times& arrivals,
                           const sim::Options& options = make_machine()) {
  return take(algorithm, place, arrivals, options).lag_ns;
}

}  // namespace stretto::conformance
