// The text of rules files.
#pragma once

#include <string>

namespace stretto {

inline constexpr auto kHead = R"(schema = 1
[measured]
date = "2026-11-26T22:00:00Z"
stretto = "0.1.0"
mpi = "Open MPI v4.1.4"
cpu = "a processor"
cores = 2
ranks = 16
nodes = 4
)";

inline std::string rule(const std::string& collective, int ranks, int nodes, const std::string& arrivals,
                        int from_bytes, const std::string& algorithm) {
  return "[[rule]]\ncollective = '" + collective + "'\nranks = " + std::to_string(ranks) +
         "\nnodes = " + std::to_string(nodes) + "\narrivals = '" + arrivals +
         "'\nfrom_bytes = " + std::to_string(from_bytes) + "\nalgorithm = '" + algorithm + "'\n";
}

}  // namespace stretto
