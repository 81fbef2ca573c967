#include "select/earlier_runs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "select/measured_file.hpp"

namespace stretto {
namespace {

using Learnt = Adaptation::Learnt;

constexpr std::int64_t kSchema = 2;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostNs = 3600LL * 1'000'000'000;
constexpr int kMostRanks = std::numeric_limits<int>::max();
constexpr std::string_view kArrivals[kArrivalClasses] = {"balanced", "uneven", "far_apart"};
constexpr std::string_view kArms[] = {"native", "ours", "second", "third"};  // candidates, as the forecast has them
static_assert(std::size(kArms) == std::tuple_size_v<Adaptation::Costs>);

std::int64_t whole(double value) { return std::llround(value); }

toml::table table_of(const MeanCost& cost) {
  const MeanCost::Summary summary = cost.summary();
  return toml::table{{"calls", whole(summary.calls)},
                     {"mean_ns", whole(summary.mean_ns)},
                     {"typical_ns", whole(summary.typical_ns)},
                     {"spread_permille", whole(1000 * summary.spread)}};
}

MeanCost read_cost(MeasuredTable entry) {
  const MeanCost cost({.calls = static_cast<double>(entry.number("calls", 0, kAny)),
                       .mean_ns = static_cast<double>(entry.number("mean_ns", 0, kMostNs)),
                       .typical_ns = static_cast<double>(entry.number("typical_ns", 0, kMostNs)),
                       .spread = static_cast<double>(entry.number("spread_permille", 0, kMostNs)) / 1000});
  entry.finish();
  return cost;
}

toml::table table_of(const KindOfCalls& kind, const Learnt& learnt) {
  const std::int64_t bytes = kind.length == 0 ? 0 : std::int64_t{1} << (kind.length - 1);
  toml::table table{{"collective", name_of(kind.collective)},
                    {"from_bytes", bytes},
                    {"ranks", kind.ranks},
                    {"nodes", kind.nodes},
                    {"arrivals", kArrivals[static_cast<std::size_t>(learnt.arrivals)]},
                    {"native_us", whole(learnt.native_ns / 1000)}};
  for (std::size_t at = 0; at < kArrivalClasses; ++at) {
    const Adaptation::LearntOfClass& known = learnt.classes[at];
    if (known.native_ns <= 0) continue;
    toml::table of_class{{"native_ns", whole(known.native_ns)}};
    of_class.insert("candidate", known.candidate);
    for (std::size_t arm = 0; arm < known.costs.size(); ++arm) {
      if (arm < 2 || known.costs[arm].calls() > 0) of_class.insert(kArms[arm], table_of(known.costs[arm]));
    }
    table.insert(kArrivals[at], of_class);
  }
  return table;
}

KindOfCalls read_kind(MeasuredTable& entry) {
  const std::string name = entry.text("collective");
  const std::optional<Collective> collective = find_collective(name);
  if (!collective) entry.refuse("collective", "is " + name + ", which nobody knows");
  const auto bytes = static_cast<std::uint64_t>(entry.number("from_bytes", 0, kAny));
  if (bytes != 0 && !std::has_single_bit(bytes)) entry.refuse("from_bytes", "must be 0 or a power of two");
  const auto ranks = static_cast<int>(entry.number("ranks", 2, kMostRanks));
  return {*collective, static_cast<std::size_t>(std::bit_width(bytes)), ranks,
          static_cast<int>(entry.number("nodes", 1, ranks))};
}

Learnt read_learnt(MeasuredTable& entry) {
  Learnt learnt;
  const std::string latest = entry.text("arrivals");
  const auto* const found = std::ranges::find(kArrivals, latest);
  if (found == std::end(kArrivals)) entry.refuse("arrivals", "must be balanced, uneven or far_apart");
  learnt.arrivals = static_cast<ArrivalClass>(found - kArrivals);
  learnt.native_ns = 1000 * static_cast<double>(entry.number("native_us", 0, kMostNs));
  for (std::size_t at = 0; at < kArrivalClasses; ++at) {
    if (!entry.has(kArrivals[at])) continue;
    MeasuredTable of_class = entry.table(kArrivals[at]);
    learnt.classes[at].native_ns = static_cast<double>(of_class.number("native_ns", 1, kMostNs));
    learnt.classes[at].candidate = static_cast<int>(of_class.number("candidate", 0, kCandidates - 1));
    for (std::size_t arm = 0; arm < std::size(kArms); ++arm) {
      if (arm < 2 || of_class.has(kArms[arm])) learnt.classes[at].costs[arm] = read_cost(of_class.table(kArms[arm]));
    }
    of_class.finish();
  }
  entry.finish();
  return learnt;
}

EarlierRunsFile read(MeasuredTable& file) {
  EarlierRunsFile found;
  found.on = read_measured_on(file, kSchema, "remove the file");
  found.program = file.text("program");
  file.tables("kind", [&](MeasuredTable& entry) {
    const KindOfCalls kind = read_kind(entry);
    if (found.runs.contains(kind)) entry.refuse("from_bytes", "is that of an earlier kind of the same calls");
    found.runs.emplace(kind, read_learnt(entry));
  });
  file.finish();
  return found;
}

}  // namespace

std::string write_earlier_runs(const EarlierRunsFile& file) {
  toml::array kinds;
  for (const auto& [kind, learnt] : file.runs) kinds.push_back(table_of(kind, learnt));
  const toml::table content{
      {"schema", kSchema}, {"program", file.program}, {"measured", write_measured_on(file.on)}, {"kind", kinds}};
  return write_measured_file(
      "What the MPI library's own algorithms and Stretto's have taken in earlier runs: docs/tuning.md.", content);
}

EarlierRunsFile read_earlier_runs(const std::string& text, const std::string& name, std::string& error) {
  return read_measured_file(text, name, error, read);
}

}  // namespace stretto
