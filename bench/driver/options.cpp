#include "options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace stretto::bench {
namespace {

template <typename Value, std::size_t n>
using Names = std::array<std::pair<const char*, Value>, n>;

constexpr auto collectives = [] {
  Names<Collective, std::size(kCollectives)> names;
  std::ranges::transform(kCollectives, names.begin(),
                         [](Collective each) { return std::pair(name_of(each).data(), each); });
  return names;
}();
constexpr Names<Datatype, 3> datatypes{
    {{"float", Datatype::float32}, {"double", Datatype::float64}, {"int32", Datatype::int32}}};
constexpr Names<Operation, 2> operations{{{"sum", Operation::sum}, {"max", Operation::max}}};

template <typename Value, std::size_t n>
Value choose(const Names<Value, n>& names, const std::string& key, const std::string& text) {
  std::string choices;
  for (const auto& [name, value] : names) {
    if (text == name) return value;
    choices += std::string(choices.empty() ? "" : ", ") + name;
  }
  throw UsageError(key + "=" + text + ": choose one of " + choices);
}

template <typename Value, std::size_t n>
const char* find_name(const Names<Value, n>& names, Value wanted) {
  for (const auto& [name, value] : names)
    if (value == wanted) return name;
  return "";
}

// At commas that are not within brackets: those belong to a name, hierarchical(binomial,ring).
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : text) {
    if (letter == '(') ++depth;
    if (letter == ')') --depth;
    if (letter == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

template <typename Number>
std::vector<Number> parse_numbers(const std::string& key, const std::string& text) {
  std::vector<Number> numbers;
  for (const auto& part : split(text)) numbers.push_back(parse_number<Number>(key, part));
  return numbers;
}

void set_option(Options& options, const std::string& key, const std::string& value) {
  if (key == "collective")
    options.collective = choose(collectives, key, value);
  else if (key == "algorithms")
    options.algorithms = split(value);
  else if (key == "sizes")
    options.sizes_bytes = parse_numbers<std::size_t>(key, value);
  else if (key == "iterations")
    options.iterations = parse_numbers<int>(key, value);
  else if (key == "precision")
    options.precision = parse_number<double>(key, value);
  else if (key == "budget_s")
    options.budget_s = parse_number<double>(key, value);
  else if (key == "warm_up")
    options.warm_up = parse_number<int>(key, value);
  else if (key == "arrival")
    options.arrival = value;
  else if (key == "seed")
    options.seed = parse_number<std::uint64_t>(key, value);
  else if (key == "root")
    options.root = value == "rotate" ? std::nullopt : std::optional(parse_number<int>(key, value));
  else if (key == "in_place")
    options.in_place = parse_number<int>(key, value) != 0;
  else if (key == "window")
    options.window = parse_number<int>(key, value) != 0;
  else if (key == "cold_cache")
    options.cold_cache = parse_number<int>(key, value) != 0;
  else if (key == "hints")
    options.hints = parse_number<int>(key, value) != 0;
  else if (key == "datatype")
    options.datatype = choose(datatypes, key, value);
  else if (key == "operation")
    options.operation = choose(operations, key, value);
  else if (key == "progress")
    options.progress = parse_number<int>(key, value) != 0;
  else if (key == "output")
    options.output = value;
  else
    throw UsageError("unknown option '" + key + "'; this program is started by `stretto`");
}

void check(const Options& options) {
  if (options.algorithms.empty()) throw UsageError("algorithms= is missing");
  if (options.output.empty()) throw UsageError("output= is missing");
  if (options.sizes_bytes.empty()) throw UsageError("sizes= is missing");
  if (options.iterations.size() != options.sizes_bytes.size())
    throw UsageError("iterations= needs one number for each of sizes=");
  for (const int iterations : options.iterations)
    if (iterations < 1) throw UsageError("iterations= must be at least 1");
  if (options.precision < 0 || options.budget_s < 0) throw UsageError("precision= and budget_s= must not be negative");
  if (options.warm_up < 0) throw UsageError("warm_up= must not be negative");
  for (const std::size_t size : options.sizes_bytes) {
    if (options.collective == Collective::barrier && size != 0) throw UsageError("sizes=: a barrier has size 0 only");
    if (size % bytes_of(options.datatype) != 0)
      throw UsageError("sizes=" + std::to_string(size) + " is not a multiple of the " +
                       std::to_string(bytes_of(options.datatype)) + " bytes of a " + name_of(options.datatype));
  }
  const bool reduces = options.collective == Collective::allreduce || options.collective == Collective::reduce;
  if (options.in_place && !reduces) throw UsageError("in_place=1: not for " + std::string(name_of(options.collective)));
}

}  // namespace

const char* name_of(Datatype datatype) { return find_name(datatypes, datatype); }
const char* name_of(Operation operation) { return find_name(operations, operation); }
bool has_block_for_each(Collective collective) {
  switch (without_lengths(collective)) {
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
    case Collective::reduce_scatter_block:
    case Collective::alltoall:
      return true;
    default:
      return false;
  }
}
std::size_t bytes_of(Datatype datatype) { return datatype == Datatype::float64 ? 8 : 4; }

Options parse_options(int argc, char** argv, const TakeOption& take) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) throw UsageError("'" + argument + "' is not of the form key=value");
    const std::string key = argument.substr(0, equals), value = argument.substr(equals + 1);
    if (!take || !take(key, value)) set_option(options, key, value);
  }
  check(options);
  return options;
}

}  // namespace stretto::bench
