#include "mpi/profile/clock_sync.hpp"

#include <algorithm>
#include <limits>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

constexpr int kRoundTrips = 100;
constexpr int kTag = 0;

// Answers a client with rank 0's time, as far as this node knows it.
void serve(MPI_Comm leaders, int client, const ClockOffset& mine) {
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, client, kTag, leaders, MPI_STATUS_IGNORE);
    const std::int64_t answer[2] = {monotonic_ns() - mine.offset_ns, mine.error_ns};
    PMPI_Send(answer, 2, MPI_INT64_T, client, kTag, leaders);
  }
}

ClockOffset ask(MPI_Comm leaders, int reference) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t answer[2] = {0, 0};
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    const std::int64_t sent = monotonic_ns();
    PMPI_Send(nullptr, 0, MPI_BYTE, reference, kTag, leaders);
    PMPI_Recv(answer, 2, MPI_INT64_T, reference, kTag, leaders, MPI_STATUS_IGNORE);
    const std::int64_t received = monotonic_ns();
    // It answered after we had sent and before we received.
    least = std::max(least, sent - answer[0]);
    most = std::min(most, received - answer[0]);
  }
  // Clocks that drift apart within the measurement may leave nothing between the bounds.
  const std::int64_t width = most > least ? most - least : least - most;
  return {monotonic_ns(), least + (most - least) / 2, width / 2 + answer[1]};
}

ClockOffset compare_leaders(MPI_Comm leaders) {
  int node = 0;
  int nodes = 0;
  PMPI_Comm_rank(leaders, &node);
  PMPI_Comm_size(leaders, &nodes);
  ClockOffset mine{monotonic_ns(), 0, 0};
  for (int distance = 1; distance < nodes; distance *= 2) {
    if (node < distance && node + distance < nodes) serve(leaders, node + distance, mine);
    if (node >= distance && node < 2 * distance) mine = ask(leaders, node - distance);
  }
  return mine;
}

}  // namespace

ClockOffset compare_clocks(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int place = 0;
  PMPI_Comm_rank(node, &place);
  MPI_Comm leaders = MPI_COMM_NULL;
  PMPI_Comm_split(comm, place == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  std::int64_t values[3] = {0, 0, 0};
  if (leaders != MPI_COMM_NULL) {
    const ClockOffset mine = compare_leaders(leaders);
    values[0] = mine.at_ns;
    values[1] = mine.offset_ns;
    values[2] = mine.error_ns;
    PMPI_Comm_free(&leaders);
  }
  PMPI_Bcast(values, 3, MPI_INT64_T, 0, node);
  PMPI_Comm_free(&node);
  return {values[0], values[1], values[2]};
}

}  // namespace stretto::mpi
