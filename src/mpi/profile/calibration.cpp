#include "mpi/profile/calibration.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>

#include "core/clock.hpp"
#include "core/median.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kSizes[] = {8, std::size_t{1} << 10, std::size_t{16} << 10, std::size_t{128} << 10,
                                  std::size_t{1} << 20};
constexpr useconds_t kLookEveryUs = 200;

int round_trips(std::size_t bytes) { return bytes <= (std::size_t{16} << 10) ? 31 : 7; }

void echo(const Channel& channel, int peer) {
  std::vector<std::byte> message(kSizes[std::size(kSizes) - 1]);
  for (const std::size_t bytes : kSizes) {
    for (int trip = 0; trip < round_trips(bytes); ++trip) {
      channel.receive(message.data(), bytes, peer);
      channel.send(message.data(), bytes, peer);
    }
  }
}

std::vector<OneWay> call(const Channel& channel, int peer) {
  std::vector<std::byte> message(kSizes[std::size(kSizes) - 1]);
  std::vector<OneWay> outcome;
  for (const std::size_t bytes : kSizes) {
    std::vector<std::int64_t> times;
    for (int trip = 0; trip < round_trips(bytes); ++trip) {
      const std::int64_t begin = monotonic_ns();
      channel.send(message.data(), bytes, peer);
      channel.receive(message.data(), bytes, peer);
      times.push_back(monotonic_ns() - begin);
    }
    outcome.push_back({bytes, static_cast<double>(median(times)) / 2});
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

Calibration measure_point_to_point(const Channel& world, std::span<const int> nodes) {
  Calibration outcome;
  std::vector<OneWay>* const measured[2] = {&outcome.node, &outcome.network};
  for (const bool same_node : {true, false}) {
    // The first after rank 0 that is on its node, or is not.
    const auto peer = std::find_if(nodes.begin() + 1, nodes.end(), [&](int node) { return (node == 0) == same_node; });
    if (peer == nodes.end()) continue;
    const auto other = static_cast<int>(peer - nodes.begin());
    if (world.rank() == 0) *measured[same_node ? 0 : 1] = call(world, other);
    if (world.rank() == other) echo(world, 0);
  }
  wait_quietly(world.comm());
  return outcome;
}

}  // namespace stretto::mpi
