// Graphs from text, as the SNAP collection has them: a line `from to [weight]` for every edge.
#pragma once

#include <istream>
#include <stdexcept>
#include <string>

#include "graph.hpp"

namespace stretto::asp {

// Names the file and the line, and what would be right.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Vertices are whole numbers, and get numbers from 0 in their order. A missing weight is 1. An edge from a vertex to
// itself only says that the vertex exists. Throws FormatError; `name` is what the input is called in it.
Graph read_graph(std::istream& input, const std::string& name);

}  // namespace stretto::asp
