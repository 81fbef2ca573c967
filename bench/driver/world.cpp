#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "clock.hpp"

namespace stretto::bench {
namespace {

constexpr std::int64_t quiet_step_ns = 200'000;
constexpr int gather_tag = 1, clock_tag = 3, quiet_tag = 4;
constexpr int clock_round_trips = 100;

}  // namespace

World::World() : native_(CallTable::of_mpi()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  find_nodes();
  if (is_clock_common(MPI_COMM_WORLD)) share_board();
  compare_clocks();
}

World::~World() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  MPI_Comm_free(&control_);
}

// Ranks tell the number of the first rank of their node.
void World::find_nodes() {
  MPI_Comm split = MPI_COMM_NULL, node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &split);
  MPI_Comm_dup(split, &node);  // under SMPI messages on the former can match others'
  int first = rank_;
  native_.bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Comm_free(&split);
  std::vector<int> firsts(static_cast<std::size_t>(size_));
  const std::vector<std::byte> gathered = gather(&first, sizeof(first));
  std::memcpy(firsts.data(), gathered.data(), gathered.size());
  native_.bcast(firsts.data(), size_, MPI_INT, 0, control_);
  std::vector<int> numbers;
  for (const int one : firsts) {
    if (std::find(numbers.begin(), numbers.end(), one) == numbers.end()) numbers.push_back(one);
    nodes_.push_back(static_cast<int>(std::find(numbers.begin(), numbers.end(), one) - numbers.begin()));
  }
}

void World::share_board() {
  void* mine = nullptr;
  MPI_Win_allocate_shared(rank_ == 0 ? sizeof(Board) : 0, 1, MPI_INFO_NULL, control_, &mine, &window_);
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  MPI_Win_shared_query(window_, 0, &bytes, &unit, &base);
  if (rank_ == 0) new (base) Board{};
  board_ = static_cast<Board*>(base);
  barrier();
}

void World::compare_clocks() {
  if (board_ != nullptr) return;
  clock_ahead_ns = 0;
  std::int64_t error_ns = 0;
  // One rank a node: the others have the same clock.
  for (int other = 1, known = 0; other < size_; ++other) {
    if (nodes_[static_cast<std::size_t>(other)] <= known) continue;
    known = nodes_[static_cast<std::size_t>(other)];
    // The shortest round trip tells best: the other clock was read in its middle, give or take its half.
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max(), ahead_ns = 0;
    for (int trip = 0; trip < clock_round_trips && (rank_ == 0 || rank_ == other); ++trip) {
      std::int64_t there_ns = 0;
      const std::int64_t begin_ns = now_ns();
      if (rank_ == other) {
        MPI_Recv(&there_ns, 1, MPI_INT64_T, 0, clock_tag, control_, MPI_STATUS_IGNORE);
        there_ns = now_ns();
        MPI_Send(&there_ns, 1, MPI_INT64_T, 0, clock_tag, control_);
        continue;
      }
      MPI_Send(&there_ns, 1, MPI_INT64_T, other, clock_tag, control_);
      MPI_Recv(&there_ns, 1, MPI_INT64_T, other, clock_tag, control_, MPI_STATUS_IGNORE);
      const std::int64_t trip_ns = now_ns() - begin_ns;
      if (trip_ns >= shortest_ns) continue;
      shortest_ns = trip_ns;
      ahead_ns = there_ns - begin_ns - trip_ns / 2;
    }
    if (rank_ == 0) error_ns = std::max(error_ns, shortest_ns / 2);
    for (int rank = other; rank_ == 0 && rank < size_; ++rank)
      if (nodes_[static_cast<std::size_t>(rank)] == known)
        MPI_Send(&ahead_ns, 1, MPI_INT64_T, rank, clock_tag, control_);
    if (nodes_[static_cast<std::size_t>(rank_)] == known)
      MPI_Recv(&clock_ahead_ns, 1, MPI_INT64_T, 0, clock_tag, control_, MPI_STATUS_IGNORE);
  }
  clock_error_ns_ = static_cast<std::int64_t>(share(static_cast<double>(error_ns)));
}

void World::quiet_barrier() {
  if (board_ == nullptr) {
    const char nothing = 0;
    for (int other = 1; rank_ == 0 && other < size_; ++other) wait_for(other);
    for (int other = 1; rank_ == 0 && other < size_; ++other)
      MPI_Send(&nothing, 1, MPI_CHAR, other, quiet_tag, control_);
    if (rank_ == 0) return;
    MPI_Send(&nothing, 1, MPI_CHAR, 0, quiet_tag, control_);
    wait_for(0);
    return;
  }
  quiet_target_ += static_cast<std::uint64_t>(size_);
  board_->arrived.fetch_add(1, std::memory_order_acq_rel);
  while (board_->arrived.load(std::memory_order_acquire) < quiet_target_) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &found, MPI_STATUS_IGNORE);
    sleep_until_ns(now_ns() + quiet_step_ns);
  }
}

void World::wait_for(int source) const {
  int found = 0;
  char nothing = 0;
  while (MPI_Iprobe(source, quiet_tag, control_, &found, MPI_STATUS_IGNORE), found == 0)
    sleep_until_ns(now_ns() + quiet_step_ns);
  MPI_Recv(&nothing, 1, MPI_CHAR, source, quiet_tag, control_, MPI_STATUS_IGNORE);
}

std::int64_t World::agree_on_start(std::int64_t lead_ns) {
  barrier();
  std::int64_t start_ns = now_ns() + lead_ns;
  if (board_ == nullptr) {
    native_.bcast(&start_ns, 1, MPI_INT64_T, 0, control_);
    barrier();
    return start_ns;
  }
  if (rank_ == 0) board_->start_ns.store(start_ns, std::memory_order_release);
  barrier();
  return board_->start_ns.load(std::memory_order_acquire);
}

double World::share(double number) {
  if (board_ == nullptr) {
    quiet_barrier();
    native_.bcast(&number, 1, MPI_DOUBLE, 0, control_);
    return number;
  }
  if (rank_ == 0) board_->number.store(number, std::memory_order_release);
  quiet_barrier();
  const double shared = board_->number.load(std::memory_order_acquire);
  quiet_barrier();
  return shared;
}

std::vector<std::byte> World::gather(const void* data, std::size_t bytes) const {
  if (rank_ != 0) {
    MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, 0, gather_tag, control_);
    return {};
  }
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(size_));
  std::copy_n(static_cast<const std::byte*>(data), bytes, all.begin());
  for (int source = 1; source < size_; ++source)
    MPI_Recv(all.data() + bytes * static_cast<std::size_t>(source), static_cast<int>(bytes), MPI_BYTE, source,
             gather_tag, control_, MPI_STATUS_IGNORE);
  return all;
}

void World::fail(const std::string& message) {
  std::fprintf(stderr, "stretto-bench: %s\n", message.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace stretto::bench
