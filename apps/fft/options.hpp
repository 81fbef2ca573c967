// The command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace stretto::fft {

// A request that cannot be carried out; every rank meets it alike, and the program ends with exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::int64_t size_floats = 256 << 10;  // as in the paper
  int iterations = 100;
  int threads = 1;
  std::int64_t seed = 1;
  std::string distribute = "p2p";  // or scatter
  double jitter_ms = 0;
  bool hints = false;
  bool check = false;
  std::string json;
  std::string help;  // not empty: all that is asked for

  std::size_t numbers() const { return static_cast<std::size_t>(size_floats / 2); }
};

// Throws UsageError, which names the option, the value and what would be right.
Options parse_options(int argc, char** argv, int ranks);

}  // namespace stretto::fft
