#include "mpi/places/latency_probe.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/clock.hpp"
#include "mpi/places/asleep.hpp"
#include "topology/latency.hpp"

namespace stretto::mpi {
namespace {

// The shortest of some trips counts: nothing makes a message quicker than it can be. If half of them took twice as
// long, others use the cores or the network, and each of so few may have waited: then as many are made again.
constexpr std::size_t kTrips = 30;
constexpr std::size_t kMostTrips = 300;
enum Tag : int { kPing, kEnough };

double ping(MPI_Comm leaders, int node) {
  const std::int64_t begin = monotonic_ns();
  PMPI_Send(nullptr, 0, MPI_BYTE, node, kPing, leaders);
  PMPI_Recv(nullptr, 0, MPI_BYTE, node, kPing, leaders, MPI_STATUS_IGNORE);
  return static_cast<double>(monotonic_ns() - begin);
}

double shortest_trip(MPI_Comm leaders, int node) {
  std::vector<double> trips;
  do {
    for (std::size_t trip = 0; trip < kTrips; ++trip) trips.push_back(ping(leaders, node));
    std::ranges::sort(trips);
  } while (trips[trips.size() / 2] > 2 * trips.front() && trips.size() < kMostTrips);
  PMPI_Send(nullptr, 0, MPI_BYTE, node, kEnough, leaders);
  return trips.front();
}

void answer(MPI_Comm leaders, int landmark) {
  MPI_Request first = MPI_REQUEST_NULL;
  PMPI_Irecv(nullptr, 0, MPI_BYTE, landmark, kPing, leaders, &first);
  wait_asleep(first);
  PMPI_Send(nullptr, 0, MPI_BYTE, landmark, kPing, leaders);
  MPI_Status status;
  while (true) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, landmark, MPI_ANY_TAG, leaders, &status);
    if (status.MPI_TAG == kEnough) return;
    PMPI_Send(nullptr, 0, MPI_BYTE, landmark, kPing, leaders);
  }
}

std::vector<double> times_from(MPI_Comm leaders, int landmark, int nodes) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) times.push_back(node == landmark ? 0 : shortest_trip(leaders, node));
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
    broadcast_asleep(times.data(), times.size(), MPI_DOUBLE, *landmark, leaders);
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
  broadcast_asleep(groups.data(), groups.size(), MPI_INT, 0, comm);

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

}  // namespace stretto::mpi
