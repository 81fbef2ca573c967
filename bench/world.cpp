#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "clock.hpp"

namespace stretto::bench {
namespace {

constexpr std::int64_t quiet_step_ns = 200'000;
constexpr int gather_tag = 1;

}  // namespace

World::World() : native_(CallTable::of_mpi()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (!is_clock_common(MPI_COMM_WORLD))
    throw UsageError("the ranks are spread over several nodes; this benchmark compares clocks and needs one node");
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);

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

World::~World() {
  MPI_Win_free(&window_);
  MPI_Comm_free(&control_);
}

void World::quiet_barrier() {
  quiet_target_ += static_cast<std::uint64_t>(size_);
  board_->arrived.fetch_add(1, std::memory_order_acq_rel);
  while (board_->arrived.load(std::memory_order_acquire) < quiet_target_) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &found, MPI_STATUS_IGNORE);
    sleep_until_ns(now_ns() + quiet_step_ns);
  }
}

std::int64_t World::agree_on_start(std::int64_t lead_ns) {
  barrier();
  if (rank_ == 0) board_->start_ns.store(now_ns() + lead_ns, std::memory_order_release);
  barrier();
  return board_->start_ns.load(std::memory_order_acquire);
}

double World::share(double number) {
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
