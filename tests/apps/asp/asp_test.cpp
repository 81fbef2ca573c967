// The parts of apps/asp that know no MPI: the reader, the generator, the blocks, and a step of the algorithm.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "distances.hpp"
#include "generator.hpp"
#include "graph.hpp"
#include "npy.hpp"
#include "reader.hpp"

namespace stretto::asp {
namespace {

constexpr Weight kInfinity = std::numeric_limits<Weight>::infinity();

Graph read(const std::string& text) {
  std::istringstream input(text);
  return read_graph(input, "graph.txt");
}

std::string refusal_of(const std::string& text) {
  try {
    read(text);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Reader, NumbersVerticesInTheOrderOfTheirIds) {
  const Graph graph = read("# Nodes: 3 Edges: 3\n900 -7 2.5\n\n  10\t900\t\r\n-7 10 0\n   # the end");
  EXPECT_EQ(graph.vertices, 3);
  EXPECT_EQ(graph.edges, (std::vector<Edge>{{0, 1, 0}, {1, 2, 1}, {2, 0, 2.5F}}));
}

TEST(Reader, KeepsTheLeastWeightOfDuplicates) {
  const Graph graph = read("1 2 5\n1 2 3\n2 1 9\n1 2\n1 2 4\n");
  EXPECT_EQ(graph.edges, (std::vector<Edge>{{0, 1, 1}, {1, 0, 9}}));
}

TEST(Reader, KeepsTheVertexOfALoop) {
  const Graph graph = read("1 2\n5 5 3\n1 1\n");
  EXPECT_EQ(graph.vertices, 3);
  EXPECT_EQ(graph.edges, (std::vector<Edge>{{0, 1, 1}}));
}

TEST(Reader, TakesTheWholeRangeOfIdsAndWeights) {
  const Graph graph = read("-9223372036854775808 9223372036854775807 1e30\n0 9223372036854775807 1e-40");
  EXPECT_EQ(graph.edges, (std::vector<Edge>{{0, 2, 1e30F}, {1, 2, 1e-40F}}));
}

TEST(Reader, NamesFileAndLineOfWhatIsWrong) {
  const std::string words = "want two vertices and at most a weight", number = "want a whole number below 2^63";
  const std::string weight = "want a number from 0 to 1e30";
  EXPECT_EQ(refusal_of("1 2\n3\n"), "graph.txt:2: " + words);
  EXPECT_EQ(refusal_of("1 2 3 4"), "graph.txt:1: " + words);
  EXPECT_EQ(refusal_of("# 1\n\nA 2"), "graph.txt:3: vertex A: " + number);
  EXPECT_EQ(refusal_of("1 2.0"), "graph.txt:1: vertex 2.0: " + number);
  EXPECT_EQ(refusal_of("1 9223372036854775808"), "graph.txt:1: vertex 9223372036854775808: " + number);
  EXPECT_EQ(refusal_of("1 2 #3"), "graph.txt:1: weight #3: " + weight);
  for (const std::string bad : {"-1", "-0.001", "1e31", "nan", "inf", "1,5", "0x10", "+1", "1e999"})
    EXPECT_EQ(refusal_of("1 2 " + bad), "graph.txt:1: weight " + bad + ": " + weight);
  for (const char* empty : {"", "\n\n", "# nothing\n"})
    EXPECT_EQ(refusal_of(empty), "graph.txt: no edge in it: want lines `from to [weight]`");
}

TEST(Generator, GivesTheSameGraphInAnyBlocks) {
  const RandomGraph random{.seed = 3, .vertices = 50, .degree = 4};
  const std::vector<Edge> whole = generate_edges(random, 0, 50);
  std::vector<Edge> joined;
  for (const auto& [first, end] : std::vector<std::pair<int, int>>{{0, 7}, {7, 7}, {7, 31}, {31, 50}})
    for (const Edge& edge : generate_edges(random, first, end)) joined.push_back(edge);
  EXPECT_EQ(joined, whole);
  EXPECT_NE(generate_edges({.seed = 4, .vertices = 50, .degree = 4}, 0, 50), whole);
}

TEST(Generator, HasTheDegreeThatIsAskedFor) {
  const int vertices = 1000;
  const std::vector<Edge> edges = generate_edges({.seed = 1, .vertices = vertices, .degree = 7.5}, 0, vertices);
  EXPECT_LE(edges.size(), 7500U);
  EXPECT_GE(edges.size(), 7400U);  // few have the same ends
  double sum = 0;
  for (const Edge& edge : edges) {
    EXPECT_NE(edge.from, edge.to);
    EXPECT_TRUE(edge.from >= 0 && edge.from < vertices && edge.to >= 0 && edge.to < vertices);
    EXPECT_TRUE(edge.weight >= 1 && edge.weight <= 100);
    sum += edge.weight;
  }
  EXPECT_NEAR(sum / static_cast<double>(edges.size()), 50.5, 1.5);
}

TEST(Generator, GivesNoEdgesWhereThereCanBeNone) {
  EXPECT_TRUE(generate_edges({.seed = 1, .vertices = 1, .degree = 16}, 0, 1).empty());
  EXPECT_TRUE(generate_edges({.seed = 1, .vertices = 10, .degree = 0}, 0, 10).empty());
}

TEST(Jitter, IsBelowItsLimitAndOfEachStepAndRankAlone) {
  EXPECT_EQ(jitter_ms(1, 0, 0, 0), 0);
  EXPECT_NE(jitter_ms(1, 0, 0, 5), jitter_ms(1, 0, 1, 5));
  EXPECT_NE(jitter_ms(1, 0, 0, 5), jitter_ms(1, 1, 0, 5));
  for (int step = 0; step < 1000; ++step) {
    EXPECT_GE(jitter_ms(1, step, 3, 5), 0);
    EXPECT_LT(jitter_ms(1, step, 3, 5), 5);
  }
}

TEST(Blocks, HaveOneOwnerForEachRow) {
  for (const auto& [rows, ranks] : std::vector<std::pair<int, int>>{{1, 1}, {7, 3}, {8, 8}, {3, 8}, {101, 16}}) {
    const Blocks blocks(rows, ranks);
    EXPECT_EQ(blocks.first(0), 0);
    EXPECT_EQ(blocks.end(ranks - 1), rows);
    for (int rank = 0; rank < ranks; ++rank) {
      const int size = blocks.end(rank) - blocks.first(rank);
      EXPECT_TRUE(size == rows / ranks || size == rows / ranks + 1);
      for (int row = blocks.first(rank); row < blocks.end(rank); ++row) EXPECT_EQ(blocks.owner(row), rank);
    }
  }
  // Rows times ranks are more than an int holds.
  const Blocks large(kMostVertices, 100'000);
  EXPECT_EQ(large.first(99'999), kMostVertices - 10);
  EXPECT_EQ(large.owner(kMostVertices - 1), 99'999);
}

TEST(Distances, BeginWithTheEdges) {
  Distances distances(3, 1, 3, std::vector<Edge>{{1, 2, 4}, {2, 0, 0.5F}});
  EXPECT_EQ(std::vector<Weight>(distances.row(1).begin(), distances.row(1).end()),
            (std::vector<Weight>{kInfinity, 0, 4}));
  EXPECT_EQ(std::vector<Weight>(distances.row(2).begin(), distances.row(2).end()),
            (std::vector<Weight>{0.5F, kInfinity, 0}));
}

TEST(Distances, AreShortestOverAllVertices) {
  Distances distances(4, 0, 4, std::vector<Edge>{{0, 1, 1}, {1, 2, 2}, {0, 2, 10}, {2, 0, 3}});
  for (int via = 0; via < 4; ++via) distances.relax(via, distances.row(via));
  const std::vector<std::vector<Weight>> expected{
      {0, 1, 3, kInfinity}, {5, 0, 2, kInfinity}, {3, 4, 0, kInfinity}, {kInfinity, kInfinity, kInfinity, 0}};
  for (int from = 0; from < 4; ++from)
    EXPECT_EQ(std::vector<Weight>(distances.row(from).begin(), distances.row(from).end()),
              expected[static_cast<std::size_t>(from)]);
}

TEST(Npy, HeaderFillsWholeLines) {
  for (const int rows : {1, 10, 1000, kMostVertices}) {
    const std::string header = npy_header(rows);
    EXPECT_EQ(header.size() % 64, 0U);
    EXPECT_EQ(header.substr(1, 7), std::string("NUMPY\x01\x00", 7));
    EXPECT_EQ(static_cast<std::size_t>(header[8]) + (static_cast<std::size_t>(header[9]) << 8), header.size() - 10);
    EXPECT_EQ(header.back(), '\n');
  }
}

}  // namespace
}  // namespace stretto::asp
