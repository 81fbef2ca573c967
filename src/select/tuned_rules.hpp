// Rules: what was measured to be best, by collective, ranks, how these lie on nodes, how they arrive, and length.
//
// `stretto tune` writes them (docs/tuning.md). Pure functions of the file and of what all ranks know alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "select/configuration.hpp"
#include "select/measured_on.hpp"

namespace stretto {

/// Of which calls a rule is, by how far apart their ranks arrive (is_uneven).
enum class Arrivals : std::uint8_t { even, uneven, any };

struct TunedRule {
  Collective collective;
  int ranks;
  int nodes;
  Arrivals arrivals;
  std::size_t from_bytes;  // up to the next rule's of the same kind
  Choice choice;           // by_rule: what is chosen without the file
};

/// The rules for the ranks of one communicator.
class RuleTable {
 public:
  /// What was measured of such calls; by rule where nothing was.
  struct Found {
    Choice nearest;      // of the nearest number of ranks
    Choice other;        // of the next one on the other side
    bool exact = false;  // the nearest is their own number
    int ranks = 0;       // the nearest number; 0: nothing was measured
    int nodes = 0;
  };
  Found find(Collective collective, std::size_t bytes, bool uneven) const;

 private:
  friend class TunedRules;
  struct Step {
    std::size_t from_bytes;
    Choice choice;
  };
  using Steps = std::vector<Step>;  // by rising lengths
  struct Entry {
    Steps nearest;
    Steps other;
    bool exact = false;
    int ranks = 0;  // of the nearest
    int nodes = 0;
  };
  static Choice at(const Steps& steps, std::size_t bytes);
  static std::size_t index(Collective collective, bool uneven) {
    return 2 * static_cast<std::size_t>(collective) + (uneven ? 1 : 0);
  }
  std::array<Entry, 2 * std::size(kCollectives)> entries_;
};

class TunedRules {
 public:
  TunedRules() = default;
  explicit TunedRules(std::vector<TunedRule> rules);

  /// Whether any rule has an algorithm of ours for that collective.
  bool may_serve(Collective collective) const { return (served_ >> static_cast<unsigned>(collective) & 1) != 0; }
  /// Those of the nearest numbers of ranks that were measured, of ranks that lie alike: all on one node, each on its
  /// own, or several on each of several. What was measured with more than twice as many ranks, nodes or ranks of a
  /// node, or with less than half, tells nothing. Of two that are as near the lower one counts.
  RuleTable table_of(int ranks, int nodes) const;

 private:
  struct Neighbours {
    const TunedRule* nearest = nullptr;  // any rule of these ranks and nodes
    const TunedRule* other = nullptr;
  };
  Neighbours neighbours_of(Collective collective, int ranks, int nodes) const;
  RuleTable::Steps steps_like(const TunedRule* example, bool uneven) const;

  std::vector<TunedRule> rules_;
  std::uint32_t served_ = 0;  // a bit a collective, as it is asked for in each call
};

/// A rules file.
struct RuleFile {
  MeasuredOn on;
  TunedRules rules;
};

/// `text` is the content of the file named `name`. Sets `error` to a message that names the file, the place and what
/// would be right where it has no rules of this version.
RuleFile read_rules(const std::string& text, const std::string& name, std::string& error);

}  // namespace stretto
