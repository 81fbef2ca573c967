// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace stretto::asp {

// A request that cannot be carried out; every rank meets it alike, and the program ends with exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string graph;  // empty: one is generated
  int vertices = 1024;
  double degree = 16;
  std::int64_t seed = 1;
  std::optional<int> steps;  // none: all
  double jitter_ms = 0;
  std::string json;
  std::string out;
  std::string help;  // not empty: all that is asked for
};

// Throws UsageError, which names the option, the value and what would be right.
Options parse_options(int argc, char** argv);

}  // namespace stretto::asp
