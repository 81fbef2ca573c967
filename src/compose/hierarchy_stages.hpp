// The stages of one hierarchical call, as the collectives put them together.
#pragma once

#include "compose/hierarchy.hpp"
#include "topology/split.hpp"

namespace stretto {

class Stages {
 public:
  /// All of them outlive it.
  Stages(Group& g, const Split& parts, const Hierarchy& how, const Call& call)
      : unit_(g.of(parts.unit, parts.place_in_unit)),
        leaders_(g.of(parts.leaders, parts.place_among_leaders)),
        parts_(parts),
        how_(how),
        call_(call) {}

  bool leads() const { return parts_.leads(); }

  /// From the ranks of the unit to their leader.
  Task up(const std::byte* input, std::byte* output, std::size_t count) {
    return within(*how_.up, input, output, count);
  }
  /// From the leader to the ranks of the unit.
  Task down(const std::byte* input, std::byte* output, std::size_t count) {
    return within(*how_.down, input, output, count);
  }
  /// Among the leaders, whose root is that of the unit with the call's; nothing elsewhere.
  Task between(Call call);

 private:
  Task within(const Algorithm& algorithm, const std::byte* input, std::byte* output, std::size_t count);

  Group unit_;
  Group leaders_;
  const Split& parts_;
  const Hierarchy& how_;
  const Call& call_;
};

// Where each rank has a block (block_hierarchy.cpp). The ranks of the unit are in their order.
Task scatter_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call);
Task gather_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call);
Task allgather_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call);

}  // namespace stretto
