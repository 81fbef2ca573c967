// Where a mapper puts the ranks of an algorithm: `stretto sim --placement scotch` and `greedy` ask it.
//
// stretto-map COLLECTIVE ALGORITHM RANKS RANKS_PER_NODE BYTES scotch|greedy: the traffic of one call is recorded from a
// run on virtual ranks, and the mapper places ranks on as few nodes as hold them so that little of it passes between
// nodes. Prints the node of each rank, a line a rank. Kitor 2022, section 4.4.2, compares its heuristics with SCOTCH
// (Pellegrini, Roman 1996; doi:10.1007/3-540-61142-8_588), which bisects the graph of traffic and the machine together.

// scotch.h takes these for granted.
#include <cstdint>
#include <cstdio>
// clang-format off
#include <scotch.h>
// clang-format on

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "transport/sim/traffic.hpp"

namespace stretto {
namespace {

struct Request {
  const Algorithm* algorithm;
  int ranks;
  int ranks_per_node;
  std::size_t bytes;
  std::string_view mapper;

  int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

// Between nodes a message is this many times as far as within one. What it is hardly matters: 2 and 100 give the same
// traffic between nodes.
constexpr SCOTCH_Num kFar = 10;

void check(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string("SCOTCH: ") + what + " failed");
}

// The traffic as SCOTCH has graphs: for each rank its neighbours, one list behind the other. Loads are small integers.
struct Graph {
  std::vector<SCOTCH_Num> first;
  std::vector<SCOTCH_Num> neighbours;
  std::vector<SCOTCH_Num> loads;
};

Graph as_graph(const Traffic& traffic, int ranks) {
  constexpr double kLargestLoad = 1e6;
  double most = 1;
  for (const Edge& edge : traffic) most = std::max(most, edge.bytes);
  Graph graph;
  graph.first.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (const Edge& edge : traffic) {
    ++graph.first[static_cast<std::size_t>(edge.a) + 1];
    ++graph.first[static_cast<std::size_t>(edge.b) + 1];
  }
  for (std::size_t rank = 1; rank < graph.first.size(); ++rank) graph.first[rank] += graph.first[rank - 1];
  std::vector<SCOTCH_Num> next(graph.first.begin(), graph.first.end() - 1);
  graph.neighbours.resize(2 * traffic.size());
  graph.loads.resize(2 * traffic.size());
  const auto add = [&](int from, int to, double bytes) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++);
    graph.neighbours[at] = to;
    graph.loads[at] = std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(bytes / most * kLargestLoad));
  };
  for (const Edge& edge : traffic) {
    add(edge.a, edge.b, edge.bytes);
    add(edge.b, edge.a, edge.bytes);
  }
  return graph;
}

// SCOTCH balances loads, and may put one rank too many on a node: such go where there is room.
void keep_to_capacity(std::vector<int>& node_of, const Request& request) {
  std::vector<int> room(static_cast<std::size_t>(request.nodes()), request.ranks_per_node);
  std::vector<std::size_t> homeless;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    if (--room[static_cast<std::size_t>(node_of[rank])] < 0) homeless.push_back(rank);
  }
  std::size_t free = 0;
  for (std::size_t rank : homeless) {
    while (room[free] <= 0) ++free;
    --room[free];
    node_of[rank] = static_cast<int>(free);
  }
}

std::vector<int> place_by_scotch(const Traffic& traffic, const Request& request) {
  Graph graph = as_graph(traffic, request.ranks);
  SCOTCH_Graph scotch_graph;
  SCOTCH_Arch machine;
  SCOTCH_Strat strategy;
  check(SCOTCH_graphInit(&scotch_graph), "graphInit");
  check(SCOTCH_archInit(&machine), "archInit");
  check(SCOTCH_stratInit(&strategy), "stratInit");
  check(
      SCOTCH_graphBuild(&scotch_graph, 0, request.ranks, graph.first.data(), nullptr, nullptr, nullptr,
                        static_cast<SCOTCH_Num>(graph.neighbours.size()), graph.neighbours.data(), graph.loads.data()),
      "graphBuild");
  const SCOTCH_Num sizes[] = {request.nodes(), request.ranks_per_node};
  const SCOTCH_Num costs[] = {kFar, 1};
  check(SCOTCH_archTleaf(&machine, 2, sizes, costs), "archTleaf");
  SCOTCH_randomReset();
  std::vector<SCOTCH_Num> core_of(static_cast<std::size_t>(request.ranks));
  check(SCOTCH_graphMap(&scotch_graph, &machine, &strategy, core_of.data()), "graphMap");
  SCOTCH_stratExit(&strategy);
  SCOTCH_archExit(&machine);
  SCOTCH_graphExit(&scotch_graph);

  std::vector<int> node_of;
  node_of.reserve(core_of.size());
  for (SCOTCH_Num core : core_of) node_of.push_back(static_cast<int>(core / request.ranks_per_node));
  keep_to_capacity(node_of, request);
  return node_of;
}

std::vector<int> place_greedily(const Traffic& traffic, const Request& request) {
  std::vector<int> nodes(static_cast<std::size_t>(request.ranks));  // of places, by-core
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    nodes[place] = static_cast<int>(place) / request.ranks_per_node;
  }
  const RankMap place_of = map_greedy(topology_of_nodes(request.ranks, nodes), 0, traffic);
  std::vector<int> node_of;
  node_of.reserve(place_of.size());
  for (int place : place_of) node_of.push_back(nodes[static_cast<std::size_t>(place)]);
  return node_of;
}

template <class Number>
Number parse(std::string_view text, const char* what) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || number < 1) {
    throw std::runtime_error(std::string(text) + ": " + what + " is a number from 1 on");
  }
  return number;
}

Request parse_request(const std::vector<std::string_view>& words) {
  if (words.size() != 6) {
    throw std::runtime_error("usage: stretto-map COLLECTIVE ALGORITHM RANKS RANKS_PER_NODE BYTES scotch|greedy");
  }
  const std::optional<Collective> collective = find_collective(words[0]);
  if (!collective) throw std::runtime_error(std::string(words[0]) + ": no such collective");
  const Algorithm* const algorithm = find_algorithm(*collective, words[1]);
  if (algorithm == nullptr || algorithm->run == nullptr || algorithm->needs.memory != Memory::none) {
    throw std::runtime_error(std::string(words[1]) + ": no algorithm of " + std::string(words[0]) +
                             " that works by messages alone; `stretto algorithms` lists them");
  }
  if (words[5] != "scotch" && words[5] != "greedy") {
    throw std::runtime_error(std::string(words[5]) + ": the mappers are scotch and greedy");
  }
  return {algorithm, parse<int>(words[2], "RANKS"), parse<int>(words[3], "RANKS_PER_NODE"),
          parse<std::size_t>(words[4], "BYTES"), words[5]};
}

}  // namespace
}  // namespace stretto

int main(int argc, char** argv) {
  try {
    const stretto::Request request = stretto::parse_request({argv + 1, argv + argc});
    const std::size_t count = std::max<std::size_t>(request.bytes / sizeof(double), 1);
    const stretto::Traffic traffic = stretto::sim::record_traffic(*request.algorithm, request.ranks, count);
    const auto place = request.mapper == "scotch" ? &stretto::place_by_scotch : &stretto::place_greedily;
    for (int node : place(traffic, request)) std::printf("%d\n", node);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stretto-map: %s\n", error.what());
    return 2;
  }
}
