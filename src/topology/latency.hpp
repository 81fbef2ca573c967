// Which nodes are near each other, from how long messages between some of them take.
#pragma once

#include <optional>
#include <vector>

namespace stretto {

/// A few nodes, the landmarks, measure to all others: O(N) messages. Two nodes are near each other if theirs take no
/// longer than a bound, which is where times have their widest gap; without a gap that is wide enough all are near.
/// Groups are what near ones join. The same of the same times.
class LatencyGroups {
 public:
  explicit LatencyGroups(int nodes) : nodes_(nodes) {}

  /// Who measures next: some that are spread evenly, then one that is near to none who has, as long as there is one.
  /// nullopt: enough is known.
  std::optional<int> next() const;
  /// How long messages from `node`, which has not measured yet, take to each; the entry of itself does not matter.
  void add(int node, std::vector<double> times);

  /// Of each node the lowest in its group.
  std::vector<int> groups() const;

 private:
  struct Landmark {
    int node;
    std::vector<double> times;
  };
  double longest_near() const;

  int nodes_;
  std::vector<Landmark> landmarks_;
};

}  // namespace stretto
