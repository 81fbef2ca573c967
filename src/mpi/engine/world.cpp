#include "mpi/engine/world.hpp"

#include <sched.h>

#include <algorithm>
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
  PMPI_Comm_set_errhandler(carrier_.comm, MPI_ERRORS_RETURN);  // which processes fail is the program's to know
  failures_.watch(carrier_.comm);
  PMPI_Comm_rank(carrier_.comm, &carrier_.rank);
  PMPI_Comm_size(carrier_.comm, &carrier_.size);
  carrier_.tags.open(count_of_tags());
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  calls_come_in_order_ = level != MPI_THREAD_MULTIPLE;
  find_nodes(can_share_memory() ? NodeMemory::wanted_limit(configuration.shared_memory_bytes) : 0);
  channel_ = Channel::open(carrier_.comm, carrier_, 1);
  places_ = discover_places(carrier_.comm, nodes_, configuration);
  if (configuration.remote_words) words_ = make_window_of_words(carrier_.comm, count_nodes(nodes_) < carrier_.size);
}

void World::close() {
  channel_.reset();
  if (failures_.any()) {
    carrier_.comm = MPI_COMM_NULL;  // to free it, or a window, takes all
    words_.release();               // NOLINT(bugprone-unused-return-value)
    return;
  }
  words_.reset();
  if (is_open()) PMPI_Comm_free(&carrier_.comm);
}

// And the bound of what may be shared there: the lowest that any rank wants, on all nodes.
void World::find_nodes(std::size_t memory_limit) {
  struct Node {
    int lowest;
    shm::SegmentName ledger;
  };
  struct Card {
    int lowest;
    std::uint64_t memory_limit;
  };
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(carrier_.comm, MPI_COMM_TYPE_SHARED, carrier_.rank, MPI_INFO_NULL, &node);
  int place = 0;
  PMPI_Comm_rank(node, &place);
  Node mine{carrier_.rank, {}};
  if (place == 0 && memory_limit > 0) mine.ledger = memory_.make_ledger();
  PMPI_Bcast(&mine, sizeof mine, MPI_BYTE, 0, node);
  if (place != 0) memory_.attach_ledger(mine.ledger);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  PMPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);
  PMPI_Comm_size(node, &node_ranks_);
  node_cores_ = CPU_COUNT(&cores);
  PMPI_Comm_free(&node);
  const Card card{mine.lowest, memory_limit};
  std::vector<Card> cards(static_cast<std::size_t>(carrier_.size));
  PMPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, carrier_.comm);
  nodes_.reserve(cards.size());
  for (const Card& each : cards) {
    nodes_.push_back(each.lowest);
    memory_limit = std::min<std::size_t>(memory_limit, each.memory_limit);
  }
  memory_.open(memory_limit);
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
