#include "mpi/places/discovery.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "mpi/engine/machine.hpp"
#include "mpi/places/binding.hpp"
#include "mpi/places/latency_probe.hpp"
#include "mpi/places/text_file.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of a file: more is no topology.conf
constexpr std::string_view kMeasure = "measure";            // in place of a file's name
constexpr int kFewestMeasured = 3;                          // nodes: two are near each other or not, all the same

std::optional<std::string> read_topology(const std::string& path, std::string& error) {
  std::optional<std::string> text = read_file(path, error);
  if (!text || text->size() <= kMostBytes) return text;
  error = "longer than any topology.conf";
  return std::nullopt;
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

void complain(const std::string& file, const std::string& error) {
  std::fprintf(stderr, "stretto: STRETTO_TOPOLOGY=%s: %s; who shares a node is all that is known of places\n",
               file.c_str(), error.c_str());
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

Places discover_places(MPI_Comm world, const std::vector<int>& nodes, const Configuration& configuration) {
  const std::string& file = configuration.topology_file;
  const bool measured = file == kMeasure;
  if (file.empty() || (measured && count_nodes(nodes) < kFewestMeasured)) return {};
  int rank = 0;
  PMPI_Comm_rank(world, &rank);
  std::string error;
  const std::optional<std::string> mine = rank == 0 && !measured ? read_topology(file, error) : std::nullopt;
  std::optional<std::string> text = measured ? std::nullopt : share_text(world, rank == 0, mine);
  Places places;
  if (measured || text) places.hosts = share_host_names(world, nodes.size());
  if (measured) text = measure_network(world, nodes, places.hosts);
  if (measured && configuration.verbose && rank == 0)
    std::fprintf(stderr, "stretto: measured, as a topology.conf:\n%s", text->c_str());
  if (text) places.network = parse_topology_conf(*text, error);
  if (text && error.empty()) topology_of_network(*places.network, nodes, places.hosts, error);
  if (error.empty() && text) return places;
  if (rank == 0) complain(file, error);
  return {};
}

Topology topology_of(const Places& places, const std::vector<int>& nodes, const std::vector<int>& world_ranks) {
  if (!places.network) return topology_of_nodes(static_cast<int>(nodes.size()), nodes);
  std::vector<std::string> hosts;
  hosts.reserve(world_ranks.size());
  for (int rank : world_ranks) hosts.push_back(places.hosts[static_cast<std::size_t>(rank)]);
  std::string error;  // none: the network has the nodes of the whole world
  return topology_of_network(*places.network, nodes, hosts, error);
}

Topology discover_insides(MPI_Comm comm, const Topology& known, const std::vector<int>& nodes,
                          const Configuration& configuration, bool asked) {
  // Simulated ranks are not where this process is bound.
  if (!configuration.hwloc || !can_share_memory() || count_nodes(nodes) == known.ranks()) return known;
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
