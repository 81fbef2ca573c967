#include "topology/latency.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace stretto {
namespace {

constexpr int kSpread = 8;          // landmarks at first
constexpr int kMostLandmarks = 64;  // what is near to none of so many is by itself
constexpr double kWideGap = 1.5;    // a switch more on the way takes longer than that on most networks
// Times that are disturbed are longer by any factor. A gap with fewer of all times than this beyond it is no gap.
constexpr double kFewest = 0.005;

std::size_t index(int node) { return static_cast<std::size_t>(node); }

int group_of(std::vector<int>& lowest, int node) {
  while (lowest[index(node)] != node) node = lowest[index(node)] = lowest[index(lowest[index(node)])];
  return node;
}

}  // namespace

void LatencyGroups::add(int node, std::vector<double> times) {
  times[index(node)] = 0;
  // What one of two landmarks finds too long the other may have right.
  for (Landmark& other : landmarks_) {
    const double shorter = std::min(times[index(other.node)], other.times[index(node)]);
    times[index(other.node)] = other.times[index(node)] = shorter;
  }
  landmarks_.push_back({node, std::move(times)});
}

double LatencyGroups::longest_near() const {
  std::vector<double> times;
  for (const Landmark& from : landmarks_) {
    for (int node = 0; node < nodes_; ++node) {
      if (node != from.node) times.push_back(from.times[index(node)]);
    }
  }
  std::ranges::sort(times);
  const auto fewest = std::max<std::size_t>(1, static_cast<std::size_t>(kFewest * static_cast<double>(times.size())));
  double bound = std::numeric_limits<double>::infinity();
  double widest = kWideGap;
  for (std::size_t below = fewest; below + fewest <= times.size(); ++below) {
    if (times[below] < widest * times[below - 1]) continue;
    widest = times[below] / times[below - 1];
    bound = times[below - 1];
  }
  return bound;
}

std::optional<int> LatencyGroups::next() const {
  const auto measured = static_cast<int>(landmarks_.size());
  const int spread = std::min(nodes_, kSpread);
  if (measured < spread) return static_cast<int>(static_cast<long long>(measured) * nodes_ / spread);
  if (measured >= kMostLandmarks) return std::nullopt;
  const double bound = longest_near();
  for (int node = 0; node < nodes_; ++node) {
    const auto is_near = [&](const Landmark& from) { return from.node == node || from.times[index(node)] <= bound; };
    if (std::ranges::none_of(landmarks_, is_near)) return node;
  }
  return std::nullopt;
}

std::vector<int> LatencyGroups::groups() const {
  const double bound = longest_near();
  std::vector<int> lowest(index(nodes_));
  std::iota(lowest.begin(), lowest.end(), 0);
  for (const Landmark& from : landmarks_) {
    for (int node = 0; node < nodes_; ++node) {
      if (from.times[index(node)] > bound) continue;
      const auto [low, high] = std::minmax({group_of(lowest, from.node), group_of(lowest, node)});
      lowest[index(high)] = low;
    }
  }
  for (int node = 0; node < nodes_; ++node) lowest[index(node)] = group_of(lowest, node);
  return lowest;
}

}  // namespace stretto
