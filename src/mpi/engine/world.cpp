#include "mpi/engine/world.hpp"

#include <sched.h>

#include <unordered_map>

#include "mpi/engine/machine.hpp"

namespace stretto::mpi {
namespace {

// The attribute is the world's, but holds for all communicators.
std::uint32_t count_of_tags() {
  int* highest = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  return (found != 0 ? static_cast<std::uint32_t>(*highest) : 32767) + 1;  // as many MPI guarantees
}

}  // namespace

void World::open(const Configuration& configuration) {
  MPI_Group all = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_create(MPI_COMM_WORLD, all, &carrier_.comm);  // not a dup, which would copy attributes
  PMPI_Group_free(&all);
  PMPI_Comm_rank(carrier_.comm, &carrier_.rank);
  PMPI_Comm_size(carrier_.comm, &carrier_.size);
  carrier_.tags.open(count_of_tags());
  find_nodes();
  channel_ = Channel::open(carrier_.comm, carrier_, 1);
  places_ = discover_places(carrier_.comm, nodes_, configuration);
  if (configuration.remote_words) words_ = make_window_of_words(carrier_.comm, count_nodes(nodes_) < carrier_.size);
}

void World::close() {
  words_.reset();
  channel_.reset();
  if (is_open()) PMPI_Comm_free(&carrier_.comm);
}

void World::find_nodes() {
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(carrier_.comm, MPI_COMM_TYPE_SHARED, carrier_.rank, MPI_INFO_NULL, &node);
  int lowest = carrier_.rank;
  PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  PMPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);
  PMPI_Comm_size(node, &node_ranks_);
  node_cores_ = CPU_COUNT(&cores);
  PMPI_Comm_free(&node);
  nodes_.resize(static_cast<std::size_t>(carrier_.size));
  PMPI_Allgather(&lowest, 1, MPI_INT, nodes_.data(), 1, MPI_INT, carrier_.comm);
}

std::vector<int> World::nodes_of(const Channel& members) const {
  std::vector<int> nodes;
  nodes.reserve(static_cast<std::size_t>(members.size()));
  std::unordered_map<int, int> lowest;  // on each node that has been met
  for (int rank = 0; rank < members.size(); ++rank) {
    const int node = nodes_[static_cast<std::size_t>(members.real(rank))];
    nodes.push_back(lowest.try_emplace(node, rank).first->second);
  }
  return nodes;
}

Topology World::topology_of(const Channel& members, const std::vector<int>& nodes_of_members) const {
  std::vector<int> real;
  real.reserve(nodes_of_members.size());
  for (int rank = 0; rank < members.size(); ++rank) real.push_back(members.real(rank));
  return mpi::topology_of(places_, nodes_of_members, real);
}

}  // namespace stretto::mpi
