#include <algorithm>
#include <vector>

#include "clock.hpp"
#include "probes.hpp"

namespace stretto::bench {

std::int64_t measure_latency_ns(World& world, std::size_t bytes) {
  constexpr int tag = 2;
  const int warm_up = 5;
  const int trials = bytes > (1U << 20) ? 15 : 101;
  std::vector<std::int64_t> times;
  std::vector<std::byte> buffer(bytes);
  const int count = static_cast<int>(bytes);
  const MPI_Comm comm = world.control();
  for (int trial = 0; trial < warm_up + trials && world.size() > 1; ++trial) {
    const std::int64_t begin = now_ns();
    if (world.rank() == 0) {
      MPI_Send(buffer.data(), count, MPI_BYTE, 1, tag, comm);
      MPI_Recv(buffer.data(), count, MPI_BYTE, 1, tag, comm, MPI_STATUS_IGNORE);
      if (trial >= warm_up) times.push_back((now_ns() - begin) / 2);
    } else if (world.rank() == 1) {
      MPI_Recv(buffer.data(), count, MPI_BYTE, 0, tag, comm, MPI_STATUS_IGNORE);
      MPI_Send(buffer.data(), count, MPI_BYTE, 0, tag, comm);
    }
  }
  double median = 0;
  if (!times.empty()) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    median = static_cast<double>(times[times.size() / 2]);
  }
  return static_cast<std::int64_t>(world.share(median));
}

}  // namespace stretto::bench
