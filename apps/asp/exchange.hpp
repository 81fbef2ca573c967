// The messages before and after the steps. Rank 0, the master, reads and writes all files and speaks for all; it
// computes, too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "blocks.hpp"
#include "distances.hpp"
#include "graph.hpp"

namespace stretto::asp {

class Exchange {
 public:
  Exchange(int ranks, int rank) : ranks_(ranks), rank_(rank) {}

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  bool is_master() const { return rank_ == 0; }

  // Where `action` fails on the master, which alone runs it, all ranks throw UsageError.
  void on_master(const std::function<void()>& action) const;

  // The master's value, on every rank.
  static int tell_all(int value);

  // Whether it is true on every rank.
  static bool do_all(bool value);

  // The sum over all ranks, on the master.
  static std::int64_t sum(std::int64_t value);

  // Of the master's edges, sorted by `from`, those that leave the rows of this rank.
  std::vector<Edge> hand_out(const std::vector<Edge>& edges, const Blocks& blocks) const;

  // Calls `take` on the master with the row of every vertex, in their order.
  void collect(Distances& distances, const Blocks& blocks, int vertices,
               const std::function<void(std::span<const Weight>)>& take) const;

 private:
  int ranks_, rank_;
};

}  // namespace stretto::asp
