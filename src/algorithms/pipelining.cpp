#include "algorithms/pipelining.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <mutex>
#include <string>

#include "algorithms/patterns/blocks.hpp"
#include "algorithms/registry.hpp"

namespace stretto {
namespace {

constexpr std::size_t kMostSegments = 1024;
constexpr std::size_t kMostUnits = 9999;  // of a segment, K, M or G
constexpr std::size_t kKiB = 1024;

std::size_t unit_of(char letter) {
  switch (letter) {
    case 'K':
      return kKiB;
    case 'M':
      return kKiB * kKiB;
    case 'G':
      return kKiB * kKiB * kKiB;
    default:
      return 0;
  }
}

// What the MPI library runs, of which no more is known.
Algorithm native_algorithm(Collective collective) {
  Algorithm native{};
  native.collective = collective;
  native.name = "native";
  return native;
}

// The pipelined algorithms that somebody has asked for. They stay, as those of the table do.
class PipelinedAlgorithms {
 public:
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Algorithm& operator[](std::size_t index) const { return entries_[index].algorithm; }

  const Algorithm* find(Collective collective, std::string_view name) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < size(); ++i) {
      const Algorithm& one = entries_[i].algorithm;
      if (one.collective == collective && one.name == name) return &one;
    }
    const auto parsed = parse_pipelined(name);
    const Algorithm native = native_algorithm(collective);
    const Algorithm* base = &native;
    if (parsed && parsed->base != native.name) base = find_algorithm(collective, parsed->base);
    if (!parsed || base == nullptr || !can_be_pipelined(*base) || algorithm_count() == kMostAlgorithms) return nullptr;
    Entry& entry = entries_[size()];
    entry.name = name;
    entry.algorithm = *base;
    entry.algorithm.name = entry.name;
    entry.algorithm.pipelining = parsed->pipelining;
    size_.fetch_add(1, std::memory_order_release);
    return &entry.algorithm;
  }

 private:
  struct Entry {
    std::string name;
    Algorithm algorithm;
  };
  std::mutex mutex_;
  std::atomic<std::size_t> size_{0};
  std::array<Entry, kMostAlgorithms> entries_{};
};

PipelinedAlgorithms& pipelined_algorithms() {
  static auto* all = new PipelinedAlgorithms;  // never destroyed: MPI may still run when the process ends
  return *all;
}

// Segments beyond this many wait for an earlier one. All ranks of a communicator keep a segment to the same lane, so
// that a lane's messages need no other name than its stream.
constexpr std::size_t kLanes = 16;
constexpr std::uint32_t kStreamsOfLane = 64;

Task run_lane(Group& g, const Algorithm& algorithm, const Call& call, std::size_t segments, std::size_t lane) {
  Group own = g.with_streams_from(static_cast<std::uint32_t>(lane) * kStreamsOfLane);
  for (std::size_t segment = lane; segment < segments; segment += kLanes) {
    const Call part = part_of(call, even_block(call.count, segments, segment));
    co_await algorithm.run(own, part);
  }
}

}  // namespace

std::optional<PipelinedName> parse_pipelined(std::string_view name) {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos || plus + 1 == name.size()) return std::nullopt;
  std::string_view digits = name.substr(plus + 1);
  const std::size_t unit = unit_of(digits.back());
  if (unit > 0) digits.remove_suffix(1);
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (number < (unit > 0 ? 1U : 2U) || number > (unit > 0 ? kMostUnits : kMostSegments)) return std::nullopt;
  PipelinedName parsed{name.substr(0, plus), {}};
  if (parsed.base.find('+') != std::string_view::npos) return std::nullopt;
  (unit > 0 ? parsed.pipelining.segment_bytes : parsed.pipelining.segments) = number * std::max<std::size_t>(unit, 1);
  return parsed;
}

bool can_be_pipelined(const Algorithm& algorithm) {
  switch (algorithm.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
      return algorithm.memory == Memory::none && !algorithm.needs_prediction();
    case Collective::allgather:
    case Collective::reduce_scatter_block:
      // Not the MPI library's own: to it the same elements of every block are no message.
      return algorithm.run != nullptr && algorithm.memory == Memory::none && !algorithm.needs_prediction();
    case Collective::barrier:
    case Collective::scatter:
    case Collective::gather:
    case Collective::scatterv:
    case Collective::gatherv:
    case Collective::allgatherv:
    case Collective::reduce_scatter:
    case Collective::alltoall:
    case Collective::alltoallv:
      return false;
  }
  return false;
}

std::size_t segments_of(const Pipelining& pipelining, std::size_t bytes, std::size_t count) {
  const std::size_t size = pipelining.segment_bytes;
  const std::size_t wanted = size > 0 ? bytes / size + (bytes % size > 0 ? 1 : 0) : pipelining.segments;
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(count, 1));
}

const Algorithm* find_pipelined(Collective collective, std::string_view name) {
  return pipelined_algorithms().find(collective, name);
}

Task run_pipelined(Group& g, const Algorithm& algorithm, const Call& call) {
  const std::size_t segments = segments_of(algorithm.pipelining, call.bytes(), call.count);
  TaskGroup lanes;
  for (std::size_t lane = 0; lane < std::min(kLanes, segments); ++lane) {
    lanes.spawn(run_lane(g, algorithm, call, segments, lane));
  }
  co_await lanes.join();
}

std::size_t number_of(const Algorithm& algorithm) {
  const auto table = algorithms();
  const Algorithm* const end = table.data() + table.size();
  if (!std::less<>()(&algorithm, table.data()) && std::less<>()(&algorithm, end)) {
    return static_cast<std::size_t>(&algorithm - table.data());
  }
  std::size_t number = table.size();
  while (&algorithm_numbered(number) != &algorithm) ++number;
  return number;
}

std::size_t algorithm_count() { return algorithms().size() + pipelined_algorithms().size(); }

const Algorithm& algorithm_numbered(std::size_t number) {
  const auto table = algorithms();
  return number < table.size() ? table[number] : pipelined_algorithms()[number - table.size()];
}

}  // namespace stretto
