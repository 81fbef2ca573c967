// Hierarchies of collectives in which each rank has a block: a unit's blocks go between its leader and the root, or all
// leaders, as one. They lie unit by unit then, which is a copy at the root unless that is the order of ranks.

#include <vector>

#include "algorithms/parts/blocks.hpp"
#include "compose/hierarchy_stages.hpp"

namespace stretto {
namespace {

// The blocks of all ranks, unit by unit. Lengths are in elements.
class UnitBlocks {
 public:
  UnitBlocks(const Split& parts, const Call& call) : call_(call), all_(*parts.division) {
    units_.reserve(all_.units());
    for (std::size_t unit = 0; unit < all_.units(); ++unit) {
      units_.push_back({all_.begins[unit] * call.count, (all_.begins[unit + 1] - all_.begins[unit]) * call.count});
    }
    mine_ = units_[static_cast<std::size_t>(parts.own_unit)];
  }

  /// Whether they lie so in the program's memory.
  bool are_in_rank_order() const { return call_.stride <= call_.count && all_.in_order; }
  std::size_t all_bytes() const { return all_.ranks.size() * call_.bytes(); }
  Block mine() const { return mine_; }
  const Block* of_units() const { return units_.data(); }

  void pack(Group& g, std::byte* packed, const std::byte* blocks) const {
    for_each([&](std::size_t to, std::size_t from) { g.copy(packed + to, blocks + from, call_.bytes()); });
  }
  void unpack(Group& g, std::byte* blocks, const std::byte* packed) const {
    for_each([&](std::size_t from, std::size_t to) { g.copy(blocks + to, packed + from, call_.bytes()); });
  }

 private:
  template <class Copy>
  void for_each(Copy copy) const {
    std::size_t packed = 0;
    for (const int rank : all_.by_unit) copy(call_.bytes() * packed++, offset(call_, block_of(call_, rank)));
  }

  const Call& call_;
  const Division& all_;
  std::vector<Block> units_;
  Block mine_{};
};

// The same call for the blocks of units in place of ranks; `knows_all` about the lengths of all of them.
Call of_units(const Call& call, const UnitBlocks& units, bool knows_all) {
  Call among_leaders = call;
  among_leaders.count = units.mine().count;
  among_leaders.stride = 0;
  among_leaders.blocks = knows_all ? units.of_units() : nullptr;
  return among_leaders;
}

}  // namespace

Task scatter_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call) {
  const UnitBlocks units(parts, call);
  const bool root = g.rank() == call.root;
  Scratch packed = g.scratch(root && !units.are_in_rank_order() ? units.all_bytes() : 0);
  const std::byte* all = call.input;
  if (root && !units.are_in_rank_order()) {
    units.pack(g, packed.data(), call.input);
    all = packed.data();
  }
  Scratch memory = g.scratch(stages.leads() && !root ? bytes(call, units.mine()) : 0);
  const std::byte* own = root ? all + offset(call, units.mine()) : memory.data();

  Call among_leaders = of_units(call, units, root);
  among_leaders.input = root ? all : nullptr;
  among_leaders.output = const_cast<std::byte*>(own);  // in place at the root
  Task between = stages.between(among_leaders);
  co_await between;

  // In place the root's own block is where it belongs, and perhaps in memory that nobody may write.
  const bool in_place = root && call.output == call.input + offset(call, block_of(call, call.root));
  const std::byte* belongs = own + static_cast<std::size_t>(parts.place_in_unit) * call.bytes();
  Task down = stages.down(own, in_place ? const_cast<std::byte*>(belongs) : call.output, call.count);
  co_await down;
}

Task gather_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call) {
  const UnitBlocks units(parts, call);
  const bool root = g.rank() == call.root;
  Scratch packed = g.scratch(root && !units.are_in_rank_order() ? units.all_bytes() : 0);
  std::byte* all = units.are_in_rank_order() ? call.output : packed.data();
  Scratch memory = g.scratch(stages.leads() && !root ? bytes(call, units.mine()) : 0);
  std::byte* own = root ? all + offset(call, units.mine()) : memory.data();

  Task up = stages.up(call.input, own, call.count);
  co_await up;
  Call among_leaders = of_units(call, units, root);
  among_leaders.input = own;
  among_leaders.output = root ? all : nullptr;
  Task between = stages.between(among_leaders);
  co_await between;
  if (root && !units.are_in_rank_order()) units.unpack(g, call.output, all);
}

Task allgather_in_stages(Group& g, const Split& parts, Stages& stages, const Call& call) {
  const UnitBlocks units(parts, call);
  Scratch packed = g.scratch(units.are_in_rank_order() ? 0 : units.all_bytes());
  std::byte* all = units.are_in_rank_order() ? call.output : packed.data();
  std::byte* own = all + offset(call, units.mine());

  Task up = stages.up(call.input, own, call.count);
  co_await up;
  Call among_leaders = of_units(call, units, true);
  among_leaders.input = own;
  among_leaders.output = all;
  Task between = stages.between(among_leaders);
  co_await between;
  Task down = stages.down(nullptr, all, units.all_bytes() / call.element_bytes);
  co_await down;
  if (!units.are_in_rank_order()) units.unpack(g, call.output, all);
}

}  // namespace stretto
