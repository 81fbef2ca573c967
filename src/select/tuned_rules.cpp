#include "select/tuned_rules.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "select/measured_file.hpp"

namespace stretto {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr double kFarthest = 2;  // numbers of ranks, by each other

// How the ranks lie.
enum class Spread { one_node, one_a_node, shared };
Spread spread_of(int ranks, int nodes) {
  if (nodes == 1) return Spread::one_node;
  return nodes == ranks ? Spread::one_a_node : Spread::shared;
}

double by_each_other(double a, double b) { return a < b ? b / a : a / b; }

// What was measured on some ranks tells nothing of others: infinite. Divisions of IEEE 754: alike on all ranks.
double distance(const TunedRule& rule, int ranks, int nodes) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (spread_of(rule.ranks, rule.nodes) != spread_of(ranks, nodes)) return kFar;
  const double of_all = by_each_other(rule.ranks, ranks);
  const double of_nodes = nodes == 1 ? 1 : by_each_other(rule.nodes, nodes);
  const double of_a_node =
      by_each_other(static_cast<double>(rule.ranks) / rule.nodes, static_cast<double>(ranks) / nodes);
  if (of_all > kFarthest || of_nodes > kFarthest || (nodes > 1 && of_a_node > kFarthest)) return kFar;
  return of_all * of_nodes * of_a_node;
}

Collective read_collective(MeasuredTable& rule) {
  const std::string name = rule.text("collective");
  const std::optional<Collective> found = find_collective(name);
  if (!found) rule.refuse("collective", "is " + name + ", which nobody knows");
  return *found;
}

Arrivals read_arrivals(MeasuredTable& rule) {
  const std::string name = rule.text("arrivals");
  if (name == "even") return Arrivals::even;
  if (name == "uneven") return Arrivals::uneven;
  if (name != "any") rule.refuse("arrivals", "is " + name + "; it must be even, uneven or any");
  return Arrivals::any;
}

TunedRule read_rule(MeasuredTable& rule) {
  TunedRule read{};
  read.collective = read_collective(rule);
  read.ranks = static_cast<int>(rule.number("ranks", 2, std::numeric_limits<int>::max()));
  read.nodes = static_cast<int>(rule.number("nodes", 1, read.ranks));
  read.arrivals = read_arrivals(rule);
  read.from_bytes = static_cast<std::size_t>(rule.number("from_bytes", 0, std::numeric_limits<std::int64_t>::max()));
  const std::string name = rule.text("algorithm");
  const auto choice = parse_choice(read.collective, name);
  if (!choice) rule.refuse("algorithm", "is " + name + "; choose " + choices_of(read.collective));
  read.choice = *choice;
  rule.leave("measured");
  rule.finish();
  return read;
}

RuleFile read(MeasuredTable& file) {
  RuleFile found;
  found.on = read_measured_on(file, kSchema, "measure again with `stretto tune`");
  std::vector<TunedRule> rules;
  std::set<std::tuple<Collective, int, int, Arrivals, std::size_t>> seen;
  file.tables("rule", [&](MeasuredTable& table) {
    const TunedRule rule = read_rule(table);
    if (!seen.insert({rule.collective, rule.ranks, rule.nodes, rule.arrivals, rule.from_bytes}).second) {
      table.refuse("from_bytes", "is that of an earlier rule for the same calls");
    }
    rules.push_back(rule);
  });
  file.finish();
  found.rules = TunedRules(std::move(rules));
  return found;
}

}  // namespace

Choice RuleTable::at(const Steps& steps, std::size_t bytes) {
  const auto after = std::ranges::upper_bound(steps, bytes, {}, &Step::from_bytes);
  return after == steps.begin() ? Choice{} : std::prev(after)->choice;
}

RuleTable::Found RuleTable::find(Collective collective, std::size_t bytes, bool uneven) const {
  const Entry& entry = entries_[index(collective, uneven)];
  const bool known = !entry.nearest.empty() && entry.nearest.front().from_bytes <= bytes;
  return {at(entry.nearest, bytes), at(entry.other, bytes), entry.exact, known ? entry.ranks : 0, entry.nodes};
}

TunedRules::TunedRules(std::vector<TunedRule> rules) : rules_(std::move(rules)) {
  for (const TunedRule& rule : rules_) {
    if (rule.choice.kind == Choice::Kind::forced) served_ |= std::uint32_t{1} << static_cast<unsigned>(rule.collective);
  }
}

TunedRules::Neighbours TunedRules::neighbours_of(Collective collective, int ranks, int nodes) const {
  const TunedRule* above = nullptr;
  const TunedRule* below = nullptr;
  const auto order = [&](const TunedRule* rule) {
    if (rule == nullptr) return std::tuple(std::numeric_limits<double>::infinity(), 0, 0);
    return std::tuple(distance(*rule, ranks, nodes), rule->ranks, rule->nodes);
  };
  for (const TunedRule& rule : rules_) {
    if (rule.collective != collective) continue;
    const TunedRule*& side = rule.ranks > ranks ? above : below;
    if (order(&rule) < order(side)) side = &rule;
  }
  const bool is_below = order(below) <= order(above);
  return is_below ? Neighbours{below, above} : Neighbours{above, below};
}

// Those of the same collective, ranks and nodes.
RuleTable::Steps TunedRules::steps_like(const TunedRule* example, bool uneven) const {
  RuleTable::Steps steps;
  if (example == nullptr) return steps;
  for (const TunedRule& rule : rules_) {
    const bool is_like = rule.collective == example->collective && rule.ranks == example->ranks &&
                         rule.nodes == example->nodes && rule.arrivals != (uneven ? Arrivals::even : Arrivals::uneven);
    if (is_like) steps.push_back({rule.from_bytes, rule.choice});
  }
  std::ranges::stable_sort(steps, {}, &RuleTable::Step::from_bytes);
  return steps;
}

RuleTable TunedRules::table_of(int ranks, int nodes) const {
  RuleTable table;
  for (const Collective collective : kCollectives) {
    const auto [nearest, other] = neighbours_of(collective, ranks, nodes);
    const bool exact = nearest != nullptr && nearest->ranks == ranks && nearest->nodes == nodes;
    for (const bool uneven : {false, true}) {
      table.entries_[RuleTable::index(collective, uneven)] = {steps_like(nearest, uneven), steps_like(other, uneven),
                                                              exact, nearest == nullptr ? 0 : nearest->ranks,
                                                              nearest == nullptr ? 0 : nearest->nodes};
    }
  }
  return table;
}

RuleFile read_rules(const std::string& text, const std::string& name, std::string& error) {
  return read_measured_file(text, name, error, read);
}

}  // namespace stretto
