#include "clock.hpp"

namespace stretto::bench {

void sleep_until_ns(std::int64_t when_ns) {
  when_ns += clock_ahead_ns;
  const timespec time{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

bool is_clock_common(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int node_size = 0, size = 0;
  MPI_Comm_size(node, &node_size);
  MPI_Comm_size(comm, &size);
  MPI_Comm_free(&node);
  return node_size == size;
}

bool is_sleep_exact() { return false; }

}  // namespace stretto::bench
