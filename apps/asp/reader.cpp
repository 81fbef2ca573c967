#include "reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

namespace stretto::asp {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::size_t kMostEdges = std::numeric_limits<int>::max();  // MPI counts in int

using Id = std::int64_t;

struct NamedEdge {
  Id from, to;
  Weight weight;
};

// The next word of `line`, which is then shorter; empty at the end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool parse(std::string_view word, Number& number) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end;
}

Id parse_id(std::string_view word) {
  Id id = 0;
  if (!parse(word, id)) throw FormatError("vertex " + std::string(word) + ": want a whole number below 2^63");
  return id;
}

Weight parse_weight(std::string_view word) {
  if (word.empty()) return 1;
  double weight = 0;
  // Written so that a NaN is wrong, too.
  if (!parse(word, weight) || !(weight >= 0 && weight <= kMostWeight))
    throw FormatError("weight " + std::string(word) + ": want a number from 0 to 1e30");
  return static_cast<Weight>(weight);
}

// Whether there is an edge in the line.
bool parse_line(std::string_view line, NamedEdge& edge) {
  const std::string_view from = take_word(line);
  if (from.empty() || from.front() == '#') return false;
  const std::string_view to = take_word(line), weight = take_word(line);
  if (to.empty() || !take_word(line).empty()) throw FormatError("want two vertices and at most a weight");
  edge = {.from = parse_id(from), .to = parse_id(to), .weight = parse_weight(weight)};
  return true;
}

std::vector<NamedEdge> read_edges(std::istream& input, const std::string& name) {
  std::vector<NamedEdge> edges;
  std::string line;
  NamedEdge edge{};
  for (std::int64_t number = 1; std::getline(input, line); ++number) {
    try {
      if (parse_line(line, edge)) edges.push_back(edge);
    } catch (const FormatError& error) {
      throw FormatError(name + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  // A directory can be opened.
  if (input.bad()) throw FormatError(name + ": cannot be read: is it a file?");
  if (edges.empty()) throw FormatError(name + ": no edge in it: want lines `from to [weight]`");
  return edges;
}

std::vector<Id> list_ids(const std::vector<NamedEdge>& edges) {
  std::vector<Id> ids;
  ids.reserve(2 * edges.size());
  for (const NamedEdge& edge : edges) ids.insert(ids.end(), {edge.from, edge.to});
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

Graph read_graph(std::istream& input, const std::string& name) {
  const std::vector<NamedEdge> edges = read_edges(input, name);
  const std::vector<Id> ids = list_ids(edges);
  if (ids.size() > kMostVertices)
    throw FormatError(name + ": " + std::to_string(ids.size()) + " vertices, more than the " +
                      std::to_string(kMostVertices) + " whose distances this program takes on");
  const auto number_of = [&ids](Id id) {
    return static_cast<std::int32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  Graph graph{.vertices = static_cast<int>(ids.size()), .edges = {}};
  for (const NamedEdge& edge : edges)
    if (edge.from != edge.to) graph.edges.push_back({number_of(edge.from), number_of(edge.to), edge.weight});
  keep_lightest(graph.edges);
  if (graph.edges.size() > kMostEdges) throw FormatError(name + ": more than 2^31 - 1 edges");
  return graph;
}

}  // namespace stretto::asp
