// What a formula of costs (core/formula.hpp) is told of a call: the machine's terms and the call's own.
#pragma once

#include <cstddef>
#include <vector>

#include "core/algorithm.hpp"
#include "core/costs.hpp"
#include "core/formula.hpp"

namespace stretto {

/// Of calls of ranks of which so many are on each node and have numbers that follow each other.
class CallTerms {
 public:
  /// `machine` says all but what depends on algorithm and length; `plan` is what the algorithms cut messages by.
  CallTerms(const Terms& machine, const Costs& plan) : machine_(machine), plan_(plan) {}

  /// Of a message, or a block, of `bytes` bytes; of elements of a byte where their number matters.
  Terms of(const Algorithm& algorithm, std::size_t bytes);
  const Costs& plan() const { return plan_; }
  /// What all algorithms and lengths have in common.
  const Terms& machine() const { return machine_; }

 private:
  struct Tree {
    TreeShape shape{};
    bool waits = false;
    TreeHops hops{};
  };
  int depth_of_tree(const TreeShape& shape) const;
  const TreeHops& tree_of(const TreeShape& shape, bool waits);

  Terms machine_;
  Costs plan_;
  std::vector<Tree> trees_;  // that have been asked for
};

}  // namespace stretto
