// Clairvoyant: a schedule, computed from the predicted arrivals, of which two partial results meet when.
//
// Marendic, Lemeire, Vucinic, Schelkens 2016, as Alizadeh 2021, section 5.2, describes it. That paper is not at hand;
// the schedule is ours. Short messages: again and again the two partials that are ready first meet, the later one
// receives (as Huffman joins the two lightest). Long messages: the same for every segment, all at once, where a link
// carries one segment at a time (algorithms/reduce/meetings.hpp). Every rank computes the whole schedule and does its
// part; nobody looks at a clock. Cost: after the last arrival, if the others have had the time, α + nβ + nγ/m with m
// segments. Balanced, log2(P) (α + nβ + nγ) for a short message, and for a long one about what reduce_scatter_gather
// takes, as all ranks take in some of the segments. Computing the schedule takes each rank some 0.3 µs a meeting, of
// which a segment has P-1. For long messages where arrivals are known. With a wrong prediction ranks wait for others
// that come late. Commutative operations only: the order of summation is the prediction's.

#include <bit>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/line.hpp"
#include "algorithms/parts/segments.hpp"
#include "algorithms/reduce/meetings.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::reduce {
namespace {

constexpr int kNobody = -1;
constexpr std::size_t kMostSegments = 32;   // all are under way at once, and a transport bounds the messages it takes
constexpr std::size_t kMostMeetings = 256;  // bounds the time that the schedule takes

// What this rank does for one segment.
struct Role {
  std::vector<int> sources;  // whose partials it takes in, in this order
  int destination = kNobody;
};

std::vector<Role> roles_of(const Group& g, const Call& call, std::size_t segments) {
  std::vector<std::int64_t> expected_ns(static_cast<std::size_t>(g.size()), 0);
  for (int rank = 0; call.order != nullptr && rank < g.size(); ++rank)
    expected_ns[static_cast<std::size_t>(rank)] = call.order->expected_ns(rank);
  const std::size_t segment_bytes = bytes(call, even_block(call.count, segments, 0));
  std::vector<Role> roles(segments);
  for (const Meeting& meeting : plan_meetings(expected_ns, call.root, segments, segment_bytes, g.costs())) {
    if (meeting.receiver == g.rank()) roles[meeting.segment].sources.push_back(meeting.sender);
    if (meeting.sender == g.rank()) roles[meeting.segment].destination = meeting.receiver;
  }
  return roles;
}

Task reduce_segment(Group& g, Call segment, const Role& role, std::byte* accumulator, std::uint32_t stream) {
  Scratch memory = g.scratch(role.sources.empty() ? 0 : segment.bytes());
  const std::byte* partial = segment.input;  // until the first comes, into which my data goes unless it is in place
  for (int source : role.sources) {
    std::byte* theirs = partial == accumulator ? memory.data() : accumulator;
    co_await g.recv(theirs, segment.bytes(), source, stream);
    g.reduce(segment, partial == accumulator ? theirs : partial, accumulator, segment.count);
    partial = accumulator;
  }
  if (role.destination == kNobody) {
    g.copy(accumulator, partial, segment.bytes());
  } else {
    co_await g.send(partial, segment.bytes(), role.destination, stream);
  }
}

}  // namespace

Task clairvoyant(Group& g, Call call) {
  const std::size_t most =
      std::clamp<std::size_t>(kMostMeetings / static_cast<std::size_t>(g.size()), 1, kMostSegments);
  const int levels = std::bit_width(static_cast<unsigned>(g.size()));
  const std::size_t segments = std::min(most, pipeline_segments(g, call, levels));
  const std::vector<Role> roles = segments > 0 ? roles_of(g, call, segments) : std::vector<Role>();
  const bool root = g.rank() == call.root;
  Scratch memory = g.scratch(root ? 0 : call.bytes());
  std::byte* accumulator = root ? call.output : memory.data();
  TaskGroup all;
  for (std::size_t index = 0; index < segments; ++index) {
    const Block block = even_block(call.count, segments, index);
    all.spawn(reduce_segment(g, part_of(call, block), roles[index], accumulator + offset(call, block),
                             static_cast<std::uint32_t>(index)));
  }
  co_await all.join();
}

using namespace letters;

extern constinit const Description clairvoyant_described{
    .collective = Collective::reduce,
    .name = "clairvoyant",
    .run = &clairvoyant,
    .needs = {.commutative = true},
    .order = OrderUse::everywhere,
    .sums = Sums::as_they_come,
    .summary = "a schedule from known arrivals: the two that are ready first meet",
    .source = "Marendic et al. 2016",
    .cost = {.balanced = log(P) * (alpha + n * beta + n * gamma), .after_last = alpha + n * beta + n * gamma / m},
};

}  // namespace stretto::reduce
