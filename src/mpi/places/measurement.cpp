#include "mpi/places/measurement.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "mpi/places/asleep.hpp"
#include "mpi/places/memory_times.hpp"

namespace stretto::mpi {
namespace {

constexpr std::uint32_t kTurns = 3;  // a stream beside those of message_times.cpp

struct Pair {
  Level level;
  int measures;
  int answers;
};

// Of places side by side some two meet in each unit that more than one of its parts has ranks of.
std::vector<Pair> find_pairs(const Topology& topology) {
  std::map<Level, Pair> pairs;
  for (int place = 0; place + 1 < topology.ranks(); ++place) {
    const auto [low, high] = std::minmax({topology.rank_at(place), topology.rank_at(place + 1)});
    const Level level = topology.units()[static_cast<std::size_t>(topology.meeting_unit(low, high))].level;
    pairs.try_emplace(level, Pair{level, low, high});
  }
  std::vector<Pair> found;
  found.reserve(pairs.size());
  for (const auto& [level, pair] : pairs) found.push_back(pair);
  return found;
}

// Rank 0 gives the turn to `rank` and takes what that has measured.
class Turns {
 public:
  explicit Turns(const Channel& channel) : channel_(channel) {}

  bool at_first() const { return channel_.rank() == 0; }
  bool is(int rank) const { return channel_.rank() == rank; }
  void give(int rank) const { channel_.send(nullptr, 0, rank, kTurns); }
  void await() const { wait_asleep(receive_later(nullptr, 0, 0)); }
  template <typename T>
  void tell(const T& value) const {
    channel_.send(&value, sizeof value, 0, kTurns);
  }
  template <typename T>
  T take(int rank) const {
    T value{};
    wait_asleep(receive_later(&value, sizeof value, rank));
    return value;
  }

 private:
  MPI_Request receive_later(void* data, std::size_t bytes, int from) const {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, channel_.real(from), channel_.own_tag(kTurns), channel_.comm(),
               &request);
    return request;
  }
  const Channel& channel_;
};

void measure_pair(const Channel& channel, const Pair& pair, Machine& machine) {
  const Turns turns(channel);
  if (turns.at_first() && pair.measures != 0) turns.give(pair.measures);
  if (turns.is(pair.measures)) {
    if (pair.measures != 0) turns.await();
    const Link link = measure_link(channel, pair.answers);
    pair.measures == 0 ? machine.know(pair.level, link) : turns.tell(link);
  } else if (turns.is(pair.answers)) {
    answer_link(channel, pair.measures);
  }
  if (turns.at_first() && pair.measures != 0) machine.know(pair.level, turns.take<Link>(pair.measures));
}

std::vector<int> mates_of_first(const Topology& topology) {
  std::vector<int> mates;
  int node = topology.unit_of(0);
  while (node > 0 && topology.units()[static_cast<std::size_t>(node)].level > Level::node) {
    node = topology.units()[static_cast<std::size_t>(node)].parent;
  }
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    if (topology.holds(node, rank)) mates.push_back(rank);
  }
  return mates;
}

// 1, 2, 4, .. and all.
std::vector<std::size_t> crowds(std::size_t most) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size < most && sizes.size() + 1 < Machine::kMostWorks; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

// The slowest counts, at each length.
void take_slower(Curve& curve, const Curve& other) {
  std::ranges::transform(curve.ns, other.ns, curve.ns.begin(), [](auto a, auto b) { return std::max(a, b); });
}

void measure_crowd(const Channel& channel, const std::vector<int>& crowd, MemoryTimes& work) {
  const Turns turns(channel);
  if (std::ranges::find(crowd, channel.rank()) == crowd.end()) return;
  if (!turns.at_first()) {
    turns.await();
    turns.tell(measure_memory());
    return;
  }
  for (std::size_t i = 1; i < crowd.size(); ++i) turns.give(crowd[i]);
  work = measure_memory();
  work.cores = static_cast<std::int64_t>(crowd.size());
  for (std::size_t i = 1; i < crowd.size(); ++i) {
    const MemoryTimes other = turns.take<MemoryTimes>(crowd[i]);
    take_slower(work.copy, other.copy);
    take_slower(work.reduce, other.reduce);
  }
}

std::int64_t measure_call(MPI_Comm self) {
  constexpr int kCalls = 1000;
  const std::int64_t begin = monotonic_ns();
  for (int call = 0; call < kCalls; ++call) PMPI_Bcast(nullptr, 0, MPI_BYTE, 0, self);
  return std::max<std::int64_t>((monotonic_ns() - begin) / kCalls, 1);
}

}  // namespace

Machine measure_machine(const Channel& channel, MPI_Comm comm, MPI_Comm self, const Topology& topology) {
  Machine machine;
  for (const Pair& pair : find_pairs(topology)) measure_pair(channel, pair, machine);
  const std::vector<int> mates = mates_of_first(topology);
  std::size_t next = 0;
  for (const std::size_t size : crowds(mates.size())) {
    measure_crowd(channel, {mates.begin(), mates.begin() + static_cast<std::ptrdiff_t>(size)}, machine.works[next++]);
  }
  if (channel.rank() == 0) {
    const HandOver hand_over = measure_hand_over();
    machine.line_ns = hand_over.line_ns;
    machine.wake_ns = hand_over.wake_ns;
    machine.call_ns = measure_call(self);
  }
  broadcast_asleep(&machine, sizeof machine, MPI_BYTE, 0, comm);
  return machine;
}

}  // namespace stretto::mpi
