#include "mpi/places/measurement.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/median.hpp"
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

void measure_pair(const Channel& channel, const Pair& pair, const Care& care, Machine& machine) {
  const Turns turns(channel);
  if (turns.at_first() && pair.measures != 0) turns.give(pair.measures);
  if (turns.is(pair.measures)) {
    if (pair.measures != 0) turns.await();
    const Link link = measure_link(channel, pair.answers, care);
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

void measure_crowd(const Channel& channel, const std::vector<int>& crowd, const Care& care, MemoryTimes& work) {
  const Turns turns(channel);
  if (std::ranges::find(crowd, channel.rank()) == crowd.end()) return;
  if (!turns.at_first()) {
    turns.await();
    turns.tell(measure_memory(care));
    return;
  }
  for (std::size_t i = 1; i < crowd.size(); ++i) turns.give(crowd[i]);
  work = measure_memory(care);
  work.cores = static_cast<std::int64_t>(crowd.size());
  for (std::size_t i = 1; i < crowd.size(); ++i) {
    const MemoryTimes other = turns.take<MemoryTimes>(crowd[i]);
    take_slower(work.copy, other.copy);
    take_slower(work.reduce, other.reduce);
  }
}

// Rounds of a dissemination among each `among` ranks of all, in each of which a rank sends to one so far away, and
// receives from one: `nearest` at first, then twice as far. By places, as ranks of a node may have any numbers.
class Rounds {
 public:
  Rounds(const Channel& channel, const Topology& topology, int among, int nearest)
      : channel_(channel), topology_(topology), nearest_(nearest), place_(topology.place_of(channel.rank())) {
    first_ = place_ / among * among;
    among_ = std::min(among, channel.size() - first_);
  }

  std::int64_t count() const {
    std::int64_t rounds = 1;
    for (int distance = 2 * nearest_; distance < among_; distance *= 2) ++rounds;
    return rounds;
  }

  // What a message of so many bytes takes, so many times but for the first; in ns.
  std::vector<std::int64_t> times_of(std::size_t bytes, int times_in_all) const {
    const std::vector<std::byte> sent(bytes);
    std::vector<std::byte> received(bytes);
    std::vector<std::int64_t> times;
    for (int time = 0; time < times_in_all; ++time) {
      const std::int64_t begin = monotonic_ns();
      for (int distance = nearest_; distance < among_; distance *= 2) exchange(distance, sent, received);
      if (time > 0) times.push_back((monotonic_ns() - begin) / count());
    }
    return times;
  }

 private:
  int rank_away(int distance) const {
    return topology_.rank_at(first_ + (place_ - first_ + distance + among_) % among_);
  }

  void exchange(int distance, const std::vector<std::byte>& sent, std::vector<std::byte>& received) const {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(received.data(), static_cast<int>(received.size()), MPI_BYTE, channel_.real(rank_away(-distance)),
               channel_.own_tag(kTurns), channel_.comm(), &request);
    channel_.send(sent.data(), sent.size(), rank_away(distance), kTurns);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  const Channel& channel_;
  const Topology& topology_;
  int nearest_;
  int place_;
  int first_;
  int among_;
};

struct Pace {
  std::int64_t message_ns;  // of kShort bytes
  std::int64_t byte_ps;     // more
};
constexpr std::int64_t kShort = 8;
constexpr int kTimes = 4;

// In the mean over all ranks: whose message is first on a node's wire waits for no other. All come at once.
Pace share_pace(const Rounds& rounds, std::int64_t bytes, const Channel& channel, MPI_Comm comm) {
  std::vector<std::int64_t> times = rounds.times_of(kShort, 3 * kTimes);
  std::vector<std::int64_t> longer = rounds.times_of(static_cast<std::size_t>(bytes), kTimes);
  std::int64_t taken_ns[] = {median(times), median(longer)};  // the least may have gone in a burst
  PMPI_Allreduce(MPI_IN_PLACE, taken_ns, 2, MPI_INT64_T, MPI_SUM, comm);
  for (std::int64_t& ns : taken_ns) ns = std::max<std::int64_t>(ns / channel.size(), 1);
  const std::int64_t more_ns = std::max<std::int64_t>(taken_ns[1] - taken_ns[0], 0);
  return {taken_ns[0], more_ns * 1000 / (bytes - kShort)};
}

// All ranks know the links.
Crowded share_crowded(const Channel& channel, MPI_Comm comm, const Topology& topology, const Machine& links) {
  constexpr std::int64_t kOfNode = 128 << 10;            // bytes, more than networks take in a burst
  constexpr std::int64_t kPicoseconds = 10'000'000'000;  // for long messages
  constexpr auto kPlanned = static_cast<std::int64_t>(Machine::kPlanned);
  const auto a_node = static_cast<std::int64_t>(mates_of_first(topology).size());
  if (a_node >= channel.size()) return {};
  const Rounds between(channel, topology, channel.size(), static_cast<int>(a_node));
  const std::int64_t byte_ps = links.costs(Level::machine, Machine::kPlanned).beta_ps_per_byte;
  const std::int64_t in_time = kPicoseconds / std::max<std::int64_t>(kTimes * between.count() * a_node * byte_ps, 1);
  const auto bytes = std::clamp<std::int64_t>(std::min(kOfNode / a_node, in_time), 1 << 10, kPlanned);
  const Pace far = share_pace(between, bytes, channel, comm);
  if (a_node == 1) return {far.message_ns, far.byte_ps, 0, 0};
  const Pace near = share_pace({channel, topology, static_cast<int>(a_node), 1}, kPlanned, channel, comm);
  return {far.message_ns, far.byte_ps, near.message_ns, near.byte_ps};
}

std::int64_t measure_call(MPI_Comm self) {
  constexpr int kCalls = 1000;
  const std::int64_t begin = monotonic_ns();
  for (int call = 0; call < kCalls; ++call) PMPI_Bcast(nullptr, 0, MPI_BYTE, 0, self);
  return std::max<std::int64_t>((monotonic_ns() - begin) / kCalls, 1);
}

// To an eighth of a power of two.
std::int64_t rounded(std::int64_t ns) {
  std::int64_t unit = 1;
  while (16 * unit <= ns) unit *= 2;
  return (ns + unit / 2) / unit * unit;
}

void round(Curve& curve) {
  for (std::int64_t& ns : curve.ns) ns = rounded(ns);
}

}  // namespace

Machine measure_in_brief(const Channel& channel, MPI_Comm comm, const Topology& topology, const Care& between_nodes) {
  Machine machine;
  for (const Pair& pair : find_pairs(topology)) {
    if (pair.level < Level::node) measure_pair(channel, pair, between_nodes, machine);
    if (pair.level == Level::node) measure_pair(channel, pair, kBriefWithinNode, machine);
  }
  const std::vector<int> mates = mates_of_first(topology);
  measure_crowd(channel, {0}, kBriefOfMemory, machine.works[0]);
  if (mates.size() > 1) measure_crowd(channel, mates, kBriefOfMemory, machine.works[1]);
  if (channel.rank() == 0) {
    for (MemoryTimes& work : machine.works) {
      round(work.copy);
      round(work.reduce);
    }
    for (Link& link : machine.links) {
      round(link.message);
      round(link.gap);
    }
  }
  broadcast_asleep(&machine, sizeof machine, MPI_BYTE, 0, comm);
  const Crowded crowded = share_crowded(channel, comm, topology, machine);
  machine.crowded = {rounded(crowded.message_ns), rounded(crowded.byte_ps), rounded(crowded.near_message_ns),
                     rounded(crowded.near_byte_ps)};
  return machine;
}

Machine measure_machine(const Channel& channel, MPI_Comm comm, MPI_Comm self, const Topology& topology) {
  Machine machine;
  for (const Pair& pair : find_pairs(topology)) measure_pair(channel, pair, kThorough, machine);
  const std::vector<int> mates = mates_of_first(topology);
  std::size_t next = 0;
  for (const std::size_t size : crowds(mates.size())) {
    const std::vector<int> crowd(mates.begin(), mates.begin() + static_cast<std::ptrdiff_t>(size));
    measure_crowd(channel, crowd, kThorough, machine.works[next++]);
  }
  if (channel.rank() == 0) {
    const HandOver hand_over = measure_hand_over();
    machine.line_ns = hand_over.line_ns;
    machine.wake_ns = hand_over.wake_ns;
    machine.call_ns = measure_call(self);
  }
  broadcast_asleep(&machine, sizeof machine, MPI_BYTE, 0, comm);
  machine.crowded = share_crowded(channel, comm, topology, machine);
  return machine;
}

}  // namespace stretto::mpi
