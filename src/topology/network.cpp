#include "topology/network.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace stretto {
namespace {

constexpr std::size_t kMostNames = 1'000'000;  // of one list: far more than any cluster has

// One switch as the file tells it.
struct Described {
  std::string name;
  std::size_t line;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
  int parent = -1;  // index of another
};

std::string in_line(std::size_t line, const std::string& what) { return "line " + std::to_string(line) + ": " + what; }

// Cuts off what comes before the next of `ends`, which is left out as well.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

bool is_key(std::string_view word, std::string_view key) {
  return std::ranges::equal(
      word, key, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
}

// The numbers of `00-15`, with their leading zeros; none if it is no range.
std::vector<std::string> expand_range(std::string_view range) {
  const std::string_view first = take_until(range, '-');
  const std::string_view last = range.empty() ? first : range;
  std::size_t from = 0, to = 0;
  const auto parse = [](std::string_view text, std::size_t& number) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc{} && end == text.data() + text.size();
  };
  std::vector<std::string> numbers;
  if (!parse(first, from) || !parse(last, to) || to < from || to - from >= kMostNames) return numbers;
  for (std::size_t number = from; number <= to; ++number) {
    std::string digits = std::to_string(number);
    numbers.push_back(std::string(first.size() - std::min(first.size(), digits.size()), '0') + digits);
  }
  return numbers;
}

// All names of one item of a list, which may have several brackets. Empty if it cannot be read.
std::vector<std::string> expand_item(std::string_view item) {
  std::vector<std::string> names{""};
  while (!item.empty()) {
    const std::string_view plain = item.substr(0, std::min(item.find('['), item.size()));
    if (plain.find(']') != std::string_view::npos) return {};
    for (std::string& name : names) name += plain;
    item.remove_prefix(plain.size());
    if (item.empty()) break;
    const std::size_t close = item.find(']');
    if (close == std::string_view::npos) return {};
    std::string_view ranges = item.substr(1, close - 1);
    item.remove_prefix(close + 1);
    std::vector<std::string> longer;
    while (!ranges.empty()) {
      const std::vector<std::string> numbers = expand_range(take_until(ranges, ','));
      if (numbers.empty() || names.size() * numbers.size() + longer.size() > kMostNames) return {};
      for (const std::string& name : names) {
        for (const std::string& number : numbers) longer.push_back(name + number);
      }
    }
    names = std::move(longer);
  }
  return names;
}

// One line; nullopt, perhaps with an error, where it tells of no switch.
std::optional<Described> read_line(std::string_view line, std::size_t number, std::string& error) {
  Described described{{}, number, {}, {}};
  const std::vector<std::string_view> words = words_of(take_until(line, '#'));
  for (std::string_view word : words) {
    const std::string_view key = take_until(word, '=');
    std::string trouble;
    if (is_key(key, "SwitchName")) {
      described.name = word;
    } else if (is_key(key, "Nodes")) {
      described.nodes = expand_names(word, trouble);
    } else if (is_key(key, "Switches")) {
      described.switches = expand_names(word, trouble);
    } else if (!is_key(key, "LinkSpeed")) {
      trouble = "'" + std::string(key) + "' is none of SwitchName, Nodes, Switches, LinkSpeed";
    }
    if (!trouble.empty()) error = in_line(number, trouble);
  }
  if (words.empty() || !error.empty()) return std::nullopt;
  if (described.name.empty()) error = in_line(number, "a line begins with SwitchName=NAME");
  return described;
}

std::vector<Described> read_lines(std::string_view text, std::string& error) {
  std::vector<Described> all;
  for (std::size_t number = 1; !text.empty() && error.empty(); ++number) {
    if (auto described = read_line(take_until(text, '\n'), number, error)) all.push_back(std::move(*described));
  }
  return all;
}

// Finds the parents. Switches are named once, and are at one other at most.
void connect(std::vector<Described>& all, std::string& error) {
  std::unordered_map<std::string, int> index;
  for (std::size_t i = 0; i < all.size() && error.empty(); ++i) {
    if (index.try_emplace(all[i].name, static_cast<int>(i)).second) continue;
    error = in_line(all[i].line, "switch " + all[i].name + " is there twice");
  }
  for (std::size_t i = 0; i < all.size() && error.empty(); ++i) {
    for (const std::string& name : all[i].switches) {
      const auto child = index.find(name);
      if (child == index.end()) {
        error = in_line(all[i].line, "switch " + name + " has no line of its own");
      } else if (all[static_cast<std::size_t>(child->second)].parent >= 0) {
        error = in_line(all[i].line, "switch " + name + " is at two switches: a tree is expected");
      } else {
        all[static_cast<std::size_t>(child->second)].parent = static_cast<int>(i);
      }
    }
  }
}

}  // namespace

std::vector<std::string> expand_names(std::string_view list, std::string& error) {
  std::vector<std::string> names;
  while (!list.empty()) {
    // Commas within brackets belong to an item.
    std::size_t end = 0;
    for (bool within = false; end < list.size() && (within || list[end] != ','); ++end) {
      if (list[end] == '[') within = true;
      if (list[end] == ']') within = false;
    }
    const std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    std::vector<std::string> expanded = item.empty() ? std::vector<std::string>{} : expand_item(item);
    if (expanded.empty()) {
      error = "'" + std::string(item) + "' is no list of names such as n[00-15],login";
      return {};
    }
    names.insert(names.end(), std::make_move_iterator(expanded.begin()), std::make_move_iterator(expanded.end()));
  }
  return names;
}

Network parse_topology_conf(std::string_view text, std::string& error) {
  error.clear();
  std::vector<Described> all = read_lines(text, error);
  if (error.empty()) connect(all, error);
  Network network{{{-1, Level::machine, "all"}}, {}};
  std::vector<int> unit_of(all.size(), -1);
  // Parents first: as many rounds as there are levels. What no round reaches is in a circle.
  for (bool found = true; found && error.empty();) {
    found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int parent = all[i].parent < 0 ? 0 : unit_of[static_cast<std::size_t>(all[i].parent)];
      if (unit_of[i] >= 0 || parent < 0) continue;
      unit_of[i] = static_cast<int>(network.switches.size());
      network.switches.push_back({parent, Level::network_switch, all[i].name});
      found = true;
    }
  }
  for (std::size_t i = 0; i < all.size() && error.empty(); ++i) {
    if (unit_of[i] < 0) error = in_line(all[i].line, "switch " + all[i].name + " is below itself");
    for (const std::string& node : all[i].nodes) {
      if (network.switch_of.try_emplace(node, unit_of[i]).second || !error.empty()) continue;
      error = in_line(all[i].line, "node " + node + " is at two switches: a tree is expected");
    }
  }
  if (error.empty() && network.switch_of.empty()) error = "it names no nodes";
  return network;
}

Topology topology_of_network(const Network& network, std::span<const int> nodes, std::span<const std::string> hosts,
                             std::string& error) {
  error.clear();
  std::vector<Unit> units = network.switches;
  std::unordered_map<int, int> unit_of_node;
  std::vector<int> unit_of;
  for (int node : nodes) {
    const auto [found, is_new] = unit_of_node.try_emplace(node, static_cast<int>(units.size()));
    unit_of.push_back(found->second);
    if (!is_new) continue;
    const std::string& host = hosts[static_cast<std::size_t>(node)];
    auto at = network.switch_of.find(host);
    if (at == network.switch_of.end()) at = network.switch_of.find(host.substr(0, host.find('.')));
    if (at == network.switch_of.end() && error.empty()) error = "it does not have node " + host;
    units.push_back({at == network.switch_of.end() ? 0 : at->second, Level::node, host});
  }
  return {std::move(units), std::move(unit_of)};
}

}  // namespace stretto
