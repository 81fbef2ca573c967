// The network between nodes: which switch a node is at, and which switches those are at, as Slurm's topology.conf has
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "topology/topology.hpp"

namespace stretto {

struct Network {
  std::vector<Unit> switches;                      // [0] is the whole machine; each other one comes after its parent
  std::unordered_map<std::string, int> switch_of;  // of each node, by name
};

/// From the text of a topology.conf(5): lines `SwitchName=leaf0 Nodes=n[00-15],login` and
/// `SwitchName=top Switches=leaf[0-3]`, with comments behind #. LinkSpeed is passed over. Switches that none has are at
/// the whole machine. On failure `error` says what is wrong, and in which line.
Network parse_topology_conf(std::string_view text, std::string& error);

/// The names that `n[0-2,7]` or `r[1-2]n[01-16],login` mean; none, and an `error`, for what cannot be read.
std::vector<std::string> expand_names(std::string_view list, std::string& error);

/// Ranks on the nodes of a network. `nodes[rank]` is the lowest rank on its node; `hosts[rank]` that node's name, with
/// or without its domain; of other ranks it does not matter. On failure, of a node that the network does not have,
/// `error` says which.
Topology topology_of_network(const Network& network, std::span<const int> nodes, std::span<const std::string> hosts,
                             std::string& error);

}  // namespace stretto
