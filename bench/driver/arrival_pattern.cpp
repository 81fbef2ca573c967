#include "arrival_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numbers>
#include <numeric>
#include <sstream>

#include "options.hpp"
#include "random.hpp"

namespace stretto::bench {
namespace {

// The ranks in a random order: position k of the result is the rank that plays the k-th part.
std::vector<int> shuffled_ranks(std::uint64_t seed, std::uint64_t iteration, int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    return random_bits(seed, iteration, static_cast<std::uint64_t>(left)) <
           random_bits(seed, iteration, static_cast<std::uint64_t>(right));
  });
  return order;
}

// A number of the standard normal distribution from two in (0, 1] and [0, 1) (Box and Muller 1958).
double normal_of(double first, double second) {
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

}  // namespace

ArrivalPattern ArrivalPattern::parse(const std::string& text) {
  static constexpr std::pair<const char*, Kind> kinds[] = {
      {"balanced", Kind::balanced},   {"mif", Kind::mif},
      {"uniform", Kind::uniform},     {"compute-uniform", Kind::compute_uniform},
      {"normal", Kind::normal},       {"one-late", Kind::one_late},
      {"one-early", Kind::one_early}, {"half-late", Kind::half_late},
      {"staircase", Kind::staircase}, {"node-late", Kind::node_late},
      {"rank-late", Kind::rank_late}, {"noise", Kind::noise},
      {"replay", Kind::replay}};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon), value = colon < text.size() ? text.substr(colon + 1) : "";
  for (const auto& [known, kind] : kinds) {
    if (name != known) continue;
    ArrivalPattern pattern;
    pattern.kind_ = kind;
    if (kind == Kind::balanced && colon == text.size()) return pattern;
    if (kind == Kind::replay) {
      pattern.replayed_ = std::make_shared<const Calls>(read_calls(value));
      return pattern;
    }
    const char* begin = value.c_str();
    char* end = nullptr;
    if (kind == Kind::noise || kind == Kind::rank_late) {
      if (kind == Kind::noise) pattern.noise_hz_ = std::strtod(begin, &end);
      if (kind == Kind::rank_late) pattern.late_rank_ = std::strtoul(begin, &end, 10);
      if (end == begin || *end != ',' || *begin == '-') break;
      if (kind == Kind::noise && !(pattern.noise_hz_ > 0)) break;
      begin = end + 1;
    }
    pattern.value_ = std::strtod(begin, &end);
    if (kind != Kind::balanced && end != begin && *end == '\0' && pattern.value_ >= 0) return pattern;
  }
  throw UsageError("arrival=" + text +
                   ": want balanced, mif:FACTOR, noise:HZ,NANOSECONDS, rank-late:RANK,NANOSECONDS, replay:FILE or "
                   "PATTERN:NANOSECONDS with PATTERN "
                   "one of uniform, normal, compute-uniform, one-late, one-early, half-late, staircase, node-late");
}

ArrivalPattern::Calls ArrivalPattern::read_calls(const std::string& file) {
  std::ifstream lines(file);
  Calls calls;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    std::vector<std::int64_t> delays{std::istream_iterator<std::int64_t>(numbers), {}};
    if (!numbers.eof() || delays.empty() || *std::min_element(delays.begin(), delays.end()) < 0)
      throw UsageError("arrival=replay:" + file + ": line " + std::to_string(calls.size() + 1) +
                       " is no list of delays");
    calls.push_back(std::move(delays));
  }
  if (calls.empty()) throw UsageError("arrival=replay:" + file + ": no calls in this file, or no such file");
  return calls;
}

void ArrivalPattern::check(const std::vector<int>& nodes) const {
  if (kind_ == Kind::node_late && *std::max_element(nodes.begin(), nodes.end()) == 0)
    throw UsageError("arrival=node-late: the ranks are all on one node");
  if (kind_ == Kind::rank_late && late_rank_ >= nodes.size())
    throw UsageError("arrival=rank-late: there is no rank " + std::to_string(late_rank_) + " among " +
                     std::to_string(nodes.size()));
  for (std::size_t call = 0; kind_ == Kind::replay && call < replayed_->size(); ++call)
    if ((*replayed_)[call].size() != nodes.size())
      throw UsageError("arrival=replay: a call of " + std::to_string((*replayed_)[call].size()) + " ranks, not " +
                       std::to_string(nodes.size()));
}

Manner ArrivalPattern::manner() const {
  switch (kind_) {
    case Kind::balanced:
    case Kind::noise:
      return Manner::together;
    case Kind::mif:
      return Manner::computing;
    case Kind::compute_uniform:
      return Manner::computing_late;
    default:
      return Manner::sleeping;
  }
}

std::vector<std::int64_t> ArrivalPattern::delays_ns(std::uint64_t seed, std::uint64_t iteration,
                                                    const std::vector<int>& nodes, std::int64_t latency_ns) const {
  if (kind_ == Kind::replay) return (*replayed_)[iteration % replayed_->size()];
  const auto ranks = static_cast<int>(nodes.size());
  std::vector<double> delays(nodes.size(), 0);
  const std::vector<int> order = shuffled_ranks(seed, iteration, ranks);
  const int late_node = nodes[static_cast<std::size_t>(order[0])];
  for (int position = 0; position < ranks; ++position) {
    const auto rank = static_cast<std::size_t>(order[static_cast<std::size_t>(position)]);
    const double random = random_unit(seed + 1, iteration, rank);
    double& delay = delays[rank];
    switch (kind_) {
      case Kind::balanced:
      case Kind::noise:
      case Kind::replay:
        break;
      case Kind::mif:
        delay = std::ceil(random * value_) * static_cast<double>(latency_ns);
        break;
      case Kind::uniform:
      case Kind::compute_uniform:
        delay = random * value_;
        break;
      case Kind::normal:
        delay = value_ * normal_of(1 - random, random_unit(seed + 3, iteration, rank));
        break;
      case Kind::one_late:
        delay = position == 0 ? value_ : 0;
        break;
      case Kind::one_early:
        delay = position == 0 ? 0 : value_;
        break;
      case Kind::half_late:
        delay = position < ranks / 2 ? value_ : 0;
        break;
      case Kind::staircase:
        delay = ranks > 1 ? value_ * position / (ranks - 1) : 0;
        break;
      case Kind::rank_late:
        delay = rank == late_rank_ ? value_ : 0;
        break;
      case Kind::node_late:
        delay = nodes[rank] == late_node ? value_ : 0;
        break;
    }
  }
  // These have no moment before which nobody comes: the first to come makes it.
  const bool from_first = kind_ == Kind::normal || kind_ == Kind::compute_uniform;
  const double first = from_first ? *std::min_element(delays.begin(), delays.end()) : 0;
  std::vector<std::int64_t> planned;
  planned.reserve(delays.size());
  for (const double delay : delays) planned.push_back(static_cast<std::int64_t>(delay - first));
  return planned;
}

}  // namespace stretto::bench
