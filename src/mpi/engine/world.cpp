#include "mpi/engine/world.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "core/clock.hpp"
#include "mpi/engine/machine.hpp"
#include "mpi/engine/measured_files.hpp"
#include "mpi/entry/native.hpp"
#include "mpi/places/cores.hpp"
#include "mpi/places/measurement.hpp"
#include "select/rules.hpp"
#include "transport/shm/single_copy.hpp"

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
  adapt_ = configuration.adapt;
  PMPI_Comm_set_errhandler(carrier_.comm, MPI_ERRORS_RETURN);  // which processes fail is the program's to know
  failures_.watch(carrier_.comm);
  PMPI_Comm_rank(carrier_.comm, &carrier_.rank);
  PMPI_Comm_size(carrier_.comm, &carrier_.size);
  carrier_.tags.open(count_of_tags());
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  calls_come_in_order_ = level != MPI_THREAD_MULTIPLE;
  const Card card = find_node(can_share_memory() ? NodeMemory::wanted_limit(configuration.shared_memory_bytes) : 0);
  std::vector<Card> cards(static_cast<std::size_t>(carrier_.size));
  PMPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, carrier_.comm);
  learn(cards);
  channel_ = Channel::open(carrier_.comm, carrier_, 1);
  places_ = discover_places(carrier_.comm, nodes_, configuration);
  know_machine(configuration);
  if (configuration.remote_words) words_ = make_window_of_words(carrier_.comm, count_nodes(nodes_) < carrier_.size);
}

// Between nodes algorithms are chosen by what they are predicted to take.
void World::know_machine(const Configuration& configuration) {
  if (const auto machine = share_machine(configuration.machine_file, carrier_.comm)) {
    machine_ = *machine;
    return;
  }
  const bool chooses =
      std::ranges::any_of(kCollectives, [&](Collective collective) { return may_serve(configuration, collective); });
  const std::optional<Care> care = care_of_messages();
  if (!chooses || !care || one_node()) return;
  const std::int64_t begin = monotonic_ns();
  machine_ = measure_in_brief(*channel_, carrier_.comm, topology_of(*channel_, nodes_), *care);
  if (!configuration.verbose || carrier_.rank != 0) return;
  const Costs near = machine_.costs(Level::node, Machine::kPlanned);
  const Costs far = machine_.costs(Level::machine, Machine::kPlanned);
  const auto thousandth = [](std::int64_t of) { return static_cast<double>(of) / 1e3; };
  std::fprintf(
      stderr,
      "stretto: between nodes %.1f us and %.2f ns a byte, %.2f where all ranks send at once, within %.1f us and "
      "%.2f ns a byte, %.1f and %.2f: found out in %.0f ms\n",
      thousandth(far.alpha_ns), thousandth(far.beta_ps_per_byte), thousandth(machine_.crowded.byte_ps),
      thousandth(near.alpha_ns), thousandth(near.beta_ps_per_byte), thousandth(machine_.crowded.near_message_ns),
      thousandth(machine_.crowded.near_byte_ps), thousandth(monotonic_ns() - begin) / 1e3);
}

void World::close() {
  NativeCall::doorbell = nullptr;
  channel_.reset();
  if (failures_.any()) {
    carrier_.comm = MPI_COMM_NULL;  // to free it, or a window, takes all
    words_.release();               // NOLINT(bugprone-unused-return-value)
    return;
  }
  words_.reset();
  if (is_open()) PMPI_Comm_free(&carrier_.comm);
}

World::Card World::find_node(std::size_t memory_limit) {
  struct Mate {
    int rank;
    pid_t process;
    std::uint64_t address;
    std::uint64_t number;
    NodeMemory::CommonName common;  // of the lowest
  };
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(carrier_.comm, MPI_COMM_TYPE_SHARED, carrier_.rank, MPI_INFO_NULL, &node);
  int place = 0;
  PMPI_Comm_rank(node, &place);
  PMPI_Comm_size(node, &node_ranks_);
  const std::uint64_t number = static_cast<std::uint64_t>(getpid()) * 0x9E3779B97F4A7C15U;
  Mate mine{carrier_.rank, getpid(), reinterpret_cast<std::uint64_t>(&number), number, {}};
  if (place == 0 && memory_limit > 0) mine.common = memory_.make_common(memory_limit);
  std::vector<Mate> mates(static_cast<std::size_t>(node_ranks_));
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, mates.data(), sizeof mine, MPI_BYTE, node);
  if (place != 0) memory_.attach_common(mates.front().common);
  const Mate& next = mates[static_cast<std::size_t>((place + 1) % node_ranks_)];
  std::uint64_t seen = 0;
  const bool can_read =
      can_share_memory() && shm::read_process(next.process, &seen, next.address, sizeof seen) && seen == next.number;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  PMPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);  // nobody's `number` is gone before
  node_cores_ = CPU_COUNT(&cores);
  told_to_yield_ = is_told_to_yield();
  PMPI_Comm_free(&node);
  return {mates.front().rank, getpid(), memory_limit, can_read, memory_.has_common()};
}

// The bound of what may be shared on a node is the lowest that any rank wants, on all nodes.
void World::learn(const std::vector<Card>& cards) {
  std::size_t memory_limit = cards.front().memory_limit;
  bool has_common = true;
  for (const Card& each : cards) {
    nodes_.push_back(each.lowest);
    processes_.push_back(each.can_read ? each.process : -1);
    memory_limit = std::min<std::size_t>(memory_limit, each.memory_limit);
    has_common = has_common && each.has_common;
  }
  memory_.open(memory_limit, has_common);
  if (has_common && one_node()) NativeCall::doorbell = doorbell_ = &memory_.doorbell();
}

std::vector<pid_t> World::readable(const Channel& members, const std::vector<int>& mates) const {
  const auto process_of = [&](int rank) { return processes_[static_cast<std::size_t>(members.real(rank))]; };
  for (int rank = 0; rank < members.size(); ++rank) {
    if (process_of(rank) < 0) return {};
  }
  std::vector<pid_t> processes;
  processes.reserve(mates.size());
  for (int mate : mates) processes.push_back(process_of(mate));
  return processes;
}

Costs World::costs_of(const std::vector<int>& nodes_of_members) const {
  return machine_.costs(count_nodes(nodes_of_members) == 1 ? Level::node : Level::machine, Machine::kPlanned);
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
