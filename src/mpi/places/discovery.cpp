#include "mpi/places/discovery.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>

#include "mpi/engine/machine.hpp"
#include "mpi/places/binding.hpp"
#include "mpi/places/latency_probe.hpp"
#include "topology/network.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of a file: more is no topology.conf
constexpr std::string_view kMeasure = "measure";            // in place of a file's name
constexpr int kFewestMeasured = 3;                          // nodes: two are near each other or not, all the same

// nullopt, with an error, where it cannot be read.
std::optional<std::string> read_file(const std::string& path, std::string& error) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad()) {
    error = std::strerror(errno);
    return std::nullopt;
  }
  if (text.size() > kMostBytes) {
    error = "longer than any topology.conf";
    return std::nullopt;
  }
  return text;
}

// Rank 0's text on all ranks; nullopt on all where it has none.
std::optional<std::string> share_text(MPI_Comm comm, bool first, const std::optional<std::string>& mine) {
  long long bytes = mine ? static_cast<long long>(mine->size()) : -1;
  PMPI_Bcast(&bytes, 1, MPI_LONG_LONG, 0, comm);
  if (bytes < 0) return std::nullopt;
  std::string text = first ? *mine : std::string(static_cast<std::size_t>(bytes), '\0');
  PMPI_Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm);
  return text;
}

using Name = std::array<char, 65>;  // HOST_NAME_MAX and a zero

std::vector<std::string> share_host_names(MPI_Comm comm, std::size_t ranks) {
  Name mine{};
  host_name().copy(mine.data(), mine.size() - 1);
  std::vector<Name> names(ranks);
  PMPI_Allgather(mine.data(), sizeof mine, MPI_CHAR, names.data(), sizeof mine, MPI_CHAR, comm);
  std::vector<std::string> hosts;
  hosts.reserve(ranks);
  for (const Name& name : names) hosts.emplace_back(name.data());
  return hosts;
}

void complain_once(const std::string& file, const std::string& error) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  std::fprintf(stderr, "stretto: STRETTO_TOPOLOGY=%s: %s; who shares a node is all that is known of places\n",
               file.c_str(), error.c_str());
}

// nullopt, with an error, if the text is wrong or lacks a node.
std::optional<Topology> place(const std::string& text, const std::vector<int>& nodes,
                              const std::vector<std::string>& hosts, std::string& error) {
  const Network network = parse_topology_conf(text, error);
  if (!error.empty()) return std::nullopt;
  Topology topology = topology_of_network(network, nodes, hosts, error);
  if (!error.empty()) return std::nullopt;
  return topology;
}

std::optional<Topology> topology_of_file(MPI_Comm comm, int rank, const std::vector<int>& nodes,
                                         const std::string& file, std::string& error) {
  const std::optional<std::string> text =
      share_text(comm, rank == 0, rank == 0 ? read_file(file, error) : std::nullopt);
  if (!text) return std::nullopt;
  return place(*text, nodes, share_host_names(comm, nodes.size()), error);
}

// Measured once, and again for a communicator with nodes that were not there.
std::optional<Topology> topology_by_time(MPI_Comm comm, int rank, const std::vector<int>& nodes, bool verbose,
                                         std::string& error) {
  static std::mutex mutex;
  static std::optional<std::string> latest;
  const std::vector<std::string> hosts = share_host_names(comm, nodes.size());
  std::unique_lock lock(mutex);
  const std::optional<std::string> mine = latest;
  lock.unlock();
  if (const std::optional<std::string> known = share_text(comm, rank == 0, mine)) {
    if (std::optional<Topology> topology = place(*known, nodes, hosts, error)) return topology;
  }
  const std::string text = measure_network(comm, nodes, hosts);
  lock.lock();
  latest = text;
  lock.unlock();
  if (verbose && rank == 0) std::fprintf(stderr, "stretto: measured, as a topology.conf:\n%s", text.c_str());
  return place(text, nodes, hosts, error);
}

int count_of(const std::vector<int>& nodes) {
  int count = 0;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) count += nodes[rank] == static_cast<int>(rank) ? 1 : 0;
  return count;
}

// What a rank tells the others of itself.
struct Bound {
  Parts parts;
  bool unknown;
};

// Says once a process, and from one of the ranks only, why nothing is known of the insides of nodes.
void complain_of_hwloc_once(bool speaker, const std::string& error) {
  static std::atomic<bool> told{false};
  if (told.exchange(true) || !speaker) return;
  std::fprintf(stderr, "stretto: on %s %s, or set STRETTO_HWLOC=off; who shares a node is all that is known of it\n",
               host_name().data(), error.c_str());
}

bool is_alone(int rank, const std::vector<int>& nodes) {
  return std::ranges::count(nodes, nodes[static_cast<std::size_t>(rank)]) == 1;
}

}  // namespace

std::vector<int> find_nodes(MPI_Comm comm) {
  MPI_Comm node_comm = MPI_COMM_NULL;
  MPI_Group all = MPI_GROUP_NULL, on_node = MPI_GROUP_NULL;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node_comm);
  PMPI_Comm_group(comm, &all);
  PMPI_Comm_group(node_comm, &on_node);
  const int first = 0;  // ranks are in the order of `comm`
  int lowest = 0;
  PMPI_Group_translate_ranks(on_node, 1, &first, all, &lowest);
  PMPI_Group_free(&on_node);
  PMPI_Group_free(&all);
  PMPI_Comm_free(&node_comm);
  std::vector<int> nodes(static_cast<std::size_t>(size));
  PMPI_Allgather(&lowest, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  return nodes;
}

Topology discover_topology(MPI_Comm comm, const std::vector<int>& nodes, const Configuration& configuration) {
  const std::string& file = configuration.topology_file;
  const bool measured = file == kMeasure;
  if (file.empty() || (measured && count_of(nodes) < kFewestMeasured)) {
    return topology_of_nodes(static_cast<int>(nodes.size()), nodes);
  }
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::string error;
  const std::optional<Topology> found = measured ? topology_by_time(comm, rank, nodes, configuration.verbose, error)
                                                 : topology_of_file(comm, rank, nodes, file, error);
  if (found) return *found;
  if (rank == 0) complain_once(file, error);
  return topology_of_nodes(static_cast<int>(nodes.size()), nodes);
}

Topology discover_insides(MPI_Comm comm, const Topology& known, const std::vector<int>& nodes,
                          const Configuration& configuration, bool asked) {
  // Simulated ranks are not where this process is bound.
  if (!configuration.hwloc || !can_share_memory() || count_of(nodes) == known.ranks()) return known;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::string error;
  Bound mine{};
  if (!is_alone(rank, nodes)) mine = {find_binding(error), !error.empty()};
  std::vector<Bound> all(nodes.size());
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  const auto without = std::ranges::find_if(all, &Bound::unknown);
  if (without != all.end()) {
    if (asked) complain_of_hwloc_once(&all[static_cast<std::size_t>(rank)] == &*without, error);
    return known;
  }
  std::vector<Parts> parts;
  parts.reserve(all.size());
  for (const Bound& each : all) parts.push_back(each.parts);
  Topology whole = add_insides(known, parts);
  if (configuration.verbose && rank == 0) {
    std::fprintf(stderr, "stretto: %d ranks on %s\n", whole.ranks(), summary_of(whole).c_str());
  }
  return whole;
}

}  // namespace stretto::mpi
