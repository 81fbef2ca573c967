#include "mpi/profile/clock_sync.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

constexpr int kRoundTrips = 100;

// Answers a client with rank 0's time, as far as this node knows it.
void serve(const Channel& channel, int client, const ClockOffset& mine) {
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    channel.receive(nullptr, 0, client);
    const std::int64_t answer[2] = {monotonic_ns() - mine.offset_ns, mine.error_ns};
    channel.send(answer, sizeof answer, client);
  }
}

ClockOffset ask(const Channel& channel, int reference) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t answer[2] = {0, 0};
  for (int trip = 0; trip < kRoundTrips; ++trip) {
    const std::int64_t sent = monotonic_ns();
    channel.send(nullptr, 0, reference);
    channel.receive(answer, sizeof answer, reference);
    const std::int64_t received = monotonic_ns();
    // It answered after we had sent and before we received.
    least = std::max(least, sent - answer[0]);
    most = std::min(most, received - answer[0]);
  }
  // Clocks that drift apart within the measurement may leave nothing between the bounds.
  const std::int64_t width = most > least ? most - least : least - most;
  return {monotonic_ns(), least + (most - least) / 2, width / 2 + answer[1]};
}

// By one rank of each node, `leaders`, of which this is number `node`.
ClockOffset compare_leaders(const Channel& channel, const std::vector<int>& leaders, std::size_t node) {
  ClockOffset mine{monotonic_ns(), 0, 0};
  for (std::size_t distance = 1; distance < leaders.size(); distance *= 2) {
    if (node < distance && node + distance < leaders.size()) serve(channel, leaders[node + distance], mine);
    if (node >= distance && node < 2 * distance) mine = ask(channel, leaders[node - distance]);
  }
  return mine;
}

}  // namespace

ClockOffset compare_clocks(const Channel& channel, std::span<const int> nodes) {
  const int leader = nodes[static_cast<std::size_t>(channel.rank())];
  ClockOffset mine;
  if (leader != channel.rank()) {
    channel.receive(&mine, sizeof mine, leader);
    return mine;
  }
  std::vector<int> leaders, mates;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const int node = nodes[static_cast<std::size_t>(rank)];
    if (node == rank) leaders.push_back(rank);
    if (node == leader && rank != leader) mates.push_back(rank);
  }
  const auto place = std::ranges::lower_bound(leaders, leader) - leaders.begin();
  mine = compare_leaders(channel, leaders, static_cast<std::size_t>(place));
  for (int mate : mates) channel.send(&mine, sizeof mine, mate);
  return mine;
}

}  // namespace stretto::mpi
