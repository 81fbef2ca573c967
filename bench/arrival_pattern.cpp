#include "arrival_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

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

}  // namespace

ArrivalPattern ArrivalPattern::parse(const std::string& text) {
  static constexpr std::pair<const char*, Kind> kinds[] = {
      {"balanced", Kind::balanced},   {"mif", Kind::mif},
      {"uniform", Kind::uniform},     {"compute-uniform", Kind::compute_uniform},
      {"one-late", Kind::one_late},   {"one-early", Kind::one_early},
      {"half-late", Kind::half_late}, {"staircase", Kind::staircase}};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  for (const auto& [known, kind] : kinds) {
    if (name != known) continue;
    ArrivalPattern pattern;
    pattern.kind_ = kind;
    if (kind == Kind::balanced && colon == text.size()) return pattern;
    char* end = nullptr;
    const std::string value = colon < text.size() ? text.substr(colon + 1) : "";
    pattern.value_ = std::strtod(value.c_str(), &end);
    if (kind != Kind::balanced && !value.empty() && *end == '\0' && pattern.value_ >= 0) return pattern;
  }
  throw UsageError("arrival=" + text +
                   ": want balanced, mif:FACTOR or PATTERN:NANOSECONDS with PATTERN one of "
                   "uniform, compute-uniform, one-late, one-early, half-late, staircase");
}

Manner ArrivalPattern::manner() const {
  switch (kind_) {
    case Kind::balanced:
      return Manner::together;
    case Kind::mif:
      return Manner::computing;
    case Kind::compute_uniform:
      return Manner::computing_late;
    default:
      return Manner::sleeping;
  }
}

std::vector<std::int64_t> ArrivalPattern::delays_ns(std::uint64_t seed, std::uint64_t iteration, int ranks,
                                                    std::int64_t latency_ns) const {
  std::vector<std::int64_t> delays(static_cast<std::size_t>(ranks), 0);
  if (kind_ == Kind::balanced) return delays;
  const std::vector<int> order = shuffled_ranks(seed, iteration, ranks);
  for (int position = 0; position < ranks; ++position) {
    const auto rank = static_cast<std::size_t>(order[static_cast<std::size_t>(position)]);
    const double random = random_unit(seed + 1, iteration, rank);
    double delay = 0;
    switch (kind_) {
      case Kind::balanced:
        break;
      case Kind::mif:
        delay = std::ceil(random * value_) * static_cast<double>(latency_ns);
        break;
      case Kind::uniform:
      case Kind::compute_uniform:
        delay = random * value_;
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
    }
    delays[rank] = static_cast<std::int64_t>(delay);
  }
  if (manner() == Manner::computing_late) {
    const std::int64_t shortest = *std::min_element(delays.begin(), delays.end());
    for (std::int64_t& delay : delays) delay -= shortest;
  }
  return delays;
}

}  // namespace stretto::bench
