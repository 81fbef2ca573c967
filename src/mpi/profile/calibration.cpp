#include "mpi/profile/calibration.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kSizes[] = {8, std::size_t{1} << 10, std::size_t{16} << 10, std::size_t{128} << 10,
                                  std::size_t{1} << 20};
constexpr int kTag = 0;
constexpr useconds_t kLookEveryUs = 200;

int round_trips(std::size_t bytes) { return bytes <= (std::size_t{16} << 10) ? 31 : 7; }

void echo(MPI_Comm comm, int peer) {
  std::vector<std::byte> message(kSizes[std::size(kSizes) - 1]);
  for (const std::size_t bytes : kSizes) {
    for (int trip = 0; trip < round_trips(bytes); ++trip) {
      PMPI_Recv(message.data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, comm, MPI_STATUS_IGNORE);
      PMPI_Send(message.data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, comm);
    }
  }
}

std::vector<OneWay> call(MPI_Comm comm, int peer) {
  std::vector<std::byte> message(kSizes[std::size(kSizes) - 1]);
  std::vector<OneWay> outcome;
  for (const std::size_t bytes : kSizes) {
    std::vector<std::int64_t> times;
    for (int trip = 0; trip < round_trips(bytes); ++trip) {
      const std::int64_t begin = monotonic_ns();
      PMPI_Send(message.data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, comm);
      PMPI_Recv(message.data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, comm, MPI_STATUS_IGNORE);
      times.push_back(monotonic_ns() - begin);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    outcome.push_back({bytes, static_cast<double>(*middle) / 2});
  }
  return outcome;
}

void wait_quietly(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &request);
  for (int done = 0; done == 0;) {
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) usleep(kLookEveryUs);
  }
}

}  // namespace

Calibration measure_point_to_point(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int with_rank_0 = rank == 0 ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &with_rank_0, 1, MPI_INT, MPI_MAX, node);
  PMPI_Comm_free(&node);
  // The first of rank 0's node but rank 0, and the first of the others.
  int peers[2] = {with_rank_0 != 0 && rank != 0 ? rank : size, with_rank_0 != 0 ? size : rank};
  PMPI_Allreduce(MPI_IN_PLACE, peers, 2, MPI_INT, MPI_MIN, comm);

  Calibration outcome;
  std::vector<OneWay>* const measured[2] = {&outcome.node, &outcome.network};
  for (int kind = 0; kind < 2; ++kind) {
    if (peers[kind] == size) continue;
    if (rank == 0) *measured[kind] = call(comm, peers[kind]);
    if (rank == peers[kind]) echo(comm, 0);
  }
  wait_quietly(comm);
  return outcome;
}

}  // namespace stretto::mpi
