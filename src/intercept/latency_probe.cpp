#include "intercept/latency_probe.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/clock.hpp"
#include "topology/latency.hpp"

namespace stretto::intercept {
namespace {

constexpr int kRoundTrips = 30;  // of which the shortest counts: nothing makes a message quicker than it can be
constexpr int kTag = 0;

void ping(MPI_Comm leaders, int node) {
  PMPI_Send(nullptr, 0, MPI_BYTE, node, kTag, leaders);
  PMPI_Recv(nullptr, 0, MPI_BYTE, node, kTag, leaders, MPI_STATUS_IGNORE);
}

void answer(MPI_Comm leaders, int landmark) {
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, landmark, kTag, leaders, MPI_STATUS_IGNORE);
    PMPI_Send(nullptr, 0, MPI_BYTE, landmark, kTag, leaders);
  }
}

std::vector<double> times_from(MPI_Comm leaders, int landmark, int nodes) {
  std::vector<double> times(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (int trip = 0; trip < kRoundTrips && node != landmark; ++trip) {
      const std::int64_t begin = monotonic_ns();
      ping(leaders, node);
      shortest = std::min(shortest, monotonic_ns() - begin);
    }
    times[static_cast<std::size_t>(node)] = static_cast<double>(shortest);
  }
  return times;
}

// By one rank of each node.
std::vector<int> measure_groups(MPI_Comm leaders) {
  int mine = 0;
  int nodes = 0;
  PMPI_Comm_rank(leaders, &mine);
  PMPI_Comm_size(leaders, &nodes);
  LatencyGroups latencies(nodes);
  while (const std::optional<int> landmark = latencies.next()) {
    std::vector<double> times(static_cast<std::size_t>(nodes));
    if (mine == *landmark) {
      times = times_from(leaders, mine, nodes);
    } else {
      answer(leaders, *landmark);
    }
    PMPI_Bcast(times.data(), nodes, MPI_DOUBLE, *landmark, leaders);
    latencies.add(*landmark, std::move(times));
  }
  return latencies.groups();
}

}  // namespace

std::string measure_network(MPI_Comm comm, const std::vector<int>& nodes, const std::vector<std::string>& hosts) {
  std::vector<int> leader_of_node;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] == static_cast<int>(rank)) leader_of_node.push_back(nodes[rank]);
  }
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  MPI_Comm leaders = MPI_COMM_NULL;
  PMPI_Comm_split(comm, nodes[static_cast<std::size_t>(rank)] == rank ? 0 : MPI_UNDEFINED, rank, &leaders);
  std::vector<int> groups(leader_of_node.size());
  if (leaders != MPI_COMM_NULL) {
    groups = measure_groups(leaders);
    PMPI_Comm_free(&leaders);
  }
  PMPI_Bcast(groups.data(), static_cast<int>(groups.size()), MPI_INT, 0, comm);

  std::map<int, std::string> hosts_of_group;
  for (std::size_t node = 0; node < groups.size(); ++node) {
    std::string& names = hosts_of_group[groups[node]];
    names.append(names.empty() ? "" : ",").append(hosts[static_cast<std::size_t>(leader_of_node[node])]);
  }
  std::string text;
  for (const auto& [first, names] : hosts_of_group) {
    text += "SwitchName=near" + std::to_string(first) + " Nodes=" + names + "\n";
  }
  return text;
}

}  // namespace stretto::intercept
