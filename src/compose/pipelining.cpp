#include "compose/pipelining.hpp"

#include <algorithm>
#include <charconv>

#include "algorithms/parts/blocks.hpp"
#include "catalogue/catalogue.hpp"
#include "core/remote_words.hpp"

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

// Segments beyond this many wait for an earlier one. All ranks of a communicator keep a segment to the same lane, so
// that a lane's messages need no other name than its stream.
constexpr std::size_t kLanes = kStreamsOfCall / kStreamsOfAlgorithm;

Task run_lane(Group& g, const Algorithm& whole, const Call& call, std::size_t segments, std::size_t lane) {
  Group own = g.with_streams_from(static_cast<std::uint32_t>(lane) * kStreamsOfAlgorithm);
  for (std::size_t segment = lane; segment < segments; segment += kLanes) {
    Call part = part_of(call, even_block(call.count, segments, segment));
    if (call.number > 0) part.number = RemoteWords::number_of_segment(call.number, segment);
    co_await run_algorithm(own, whole, part);  // which may be a hierarchy
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
  // The parts of a hierarchy may be in segments themselves; others are cut once.
  if (parsed.base.find('+') != std::string_view::npos && !parsed.base.ends_with(')')) return std::nullopt;
  (unit > 0 ? parsed.pipelining.segment_bytes : parsed.pipelining.segments) = number * std::max<std::size_t>(unit, 1);
  return parsed;
}

bool can_be_pipelined(const Algorithm& algorithm) {
  switch (algorithm.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
      return algorithm.needs.memory == Memory::none && !algorithm.needs_prediction();
    case Collective::allgather:
    case Collective::reduce_scatter_block:
      // Not the MPI library's own: to it the same elements of every block are no message.
      return algorithm.run != nullptr && algorithm.needs.memory == Memory::none && !algorithm.needs_prediction();
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

Task run_pipelined(Group& g, const Algorithm& algorithm, const Call& call) {
  const std::size_t segments = segments_of(algorithm.pipelining, call.bytes(), call.count);
  Algorithm whole = algorithm;
  whole.pipelining = {};
  TaskGroup lanes;
  for (std::size_t lane = 0; lane < std::min(kLanes, segments); ++lane) {
    lanes.spawn(run_lane(g, whole, call, segments, lane));
  }
  co_await lanes.join();
}

}  // namespace stretto
