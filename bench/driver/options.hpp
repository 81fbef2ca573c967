// What the benchmark is asked to measure: key=value arguments that `stretto bench` has validated for its user.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/collective.hpp"

namespace stretto::bench {

// A request that cannot be carried out; every rank meets it alike, and the program ends with exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using stretto::Collective;
using stretto::name_of;
enum class Datatype { float32, float64, int32 };
enum class Operation { sum, max };

// Whether a rank has a block for, or of, every other in it.
bool has_block_for_each(Collective collective);
const char* name_of(Datatype datatype);
const char* name_of(Operation operation);
std::size_t bytes_of(Datatype datatype);

struct Options {
  Collective collective = Collective::allreduce;  // one with a length for each rank is given the same for all
  std::vector<std::string> algorithms;
  std::vector<std::size_t> sizes_bytes;
  std::vector<int> iterations;  // one a size; with a precision at most so many
  double precision = 0;         // half interval of a median, as a part of it, at which to stop; 0: all iterations
  double budget_s = 0;          // for all sizes together, if there is a precision
  int warm_up = 3;
  std::string arrival = "balanced";
  std::uint64_t seed = 1;
  std::optional<int> root;  // empty: rank (iteration mod P)
  bool in_place = false;
  bool cold_cache = false;
  bool window = false;  // ranks that call together do so at an agreed moment instead of behind a barrier
  bool hints = false;   // half-way through its delay each rank tells Stretto so
  Datatype datatype = Datatype::float32;
  Operation operation = Operation::sum;
  bool progress = false;  // told on stderr by rank 0, twice a second: "progress SIZE_INDEX ITERATION"
  std::string output;
};

// Takes what a program knows beyond Options; returns whether it knows the key.
using TakeOption = std::function<bool(const std::string& key, const std::string& value)>;

// Throws UsageError naming the key, the value and the choices.
Options parse_options(int argc, char** argv, const TakeOption& take = nullptr);

template <typename Number>
Number parse_number(const std::string& key, const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) throw UsageError(key + "=" + text + ": not a number it can take");
  return number;
}

}  // namespace stretto::bench
