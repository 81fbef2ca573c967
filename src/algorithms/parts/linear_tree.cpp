#include "algorithms/parts/linear_tree.hpp"

#include <array>

#include "algorithms/parts/blocks.hpp"
#include "algorithms/parts/line.hpp"
#include "algorithms/parts/segments.hpp"

namespace stretto {
namespace {

// Segments travel in lanes, one behind the other in each, so that each stage has so many messages on their way.
constexpr std::size_t kLanes = 3;

// How many segments of a lane each stage of this rank is done with.
struct Lane {
  std::size_t index = 0;
  Signal reduced;    // hold the data of all positions up to mine
  Signal handed_on;  // and the successor has them
  Signal finished;   // hold the result

  std::uint32_t partials() const { return static_cast<std::uint32_t>(1 + 2 * index); }  // streams
  std::uint32_t results() const { return partials() + 1; }
};

class LinearTree {
 public:
  LinearTree(Group& g, const Call& call, Results results)
      : g_(g),
        call_(call),
        line_(g, call),
        segments_(pipeline_segments(g, call, line_.size())),
        result_from_(results == Results::back ? line_.successor() : line_.predecessor()),
        result_to_(results == Results::back ? line_.predecessor() : line_.successor()),
        passes_result_(results == Results::back ? !line_.first() : line_.position() + 2 != line_.size()) {}

  /// Each stage goes ahead of the next as far as it can: while the successor is away, all of the predecessor's segments
  /// are taken in, and then the links are free for the results.
  void spawn_stages(TaskGroup& stages, Lane& lane) {
    if (!line_.first()) stages.spawn(take_in(lane));
    if (!line_.last()) stages.spawn(hand_on(lane));
    if (!line_.last()) stages.spawn(take_result(lane));
    if (passes_result_) stages.spawn(pass_result(lane, line_.last() ? lane.reduced : lane.finished));
  }

 private:
  Block segment(std::size_t index) const { return even_block(call_.count, segments_, index); }

  Task take_in(Lane& lane) {
    // My data goes into what comes, or, in place, what comes into my data: nothing need be copied.
    const bool in_place = call_.input == call_.output;
    Scratch memory = g_.scratch(in_place ? bytes(call_, segment(0)) : 0);
    std::uint64_t done = 0;
    for (std::size_t index = lane.index; index < segments_; index += kLanes) {
      const Call part = part_of(call_, segment(index));
      std::byte* theirs = in_place ? memory.data() : part.output;
      co_await g_.recv(theirs, part.bytes(), line_.predecessor(), lane.partials());
      g_.reduce(part, in_place ? theirs : part.input, part.output, part.count);
      g_.publish(lane.reduced, ++done);
    }
  }

  Task hand_on(Lane& lane) {
    std::uint64_t done = 0;
    for (std::size_t index = lane.index; index < segments_; index += kLanes) {
      const Call part = part_of(call_, segment(index));
      if (!line_.first()) co_await g_.reached(lane.reduced, done + 1);
      const std::byte* partial = line_.first() ? part.input : part.output;
      co_await g_.send(partial, part.bytes(), line_.successor(), lane.partials());
      g_.publish(lane.handed_on, ++done);
    }
  }

  Task take_result(Lane& lane) {
    std::uint64_t done = 0;
    for (std::size_t index = lane.index; index < segments_; index += kLanes) {
      const Call part = part_of(call_, segment(index));
      co_await g_.reached(lane.handed_on, done + 1);  // the result goes where the partial was
      co_await g_.recv(part.output, part.bytes(), result_from_, lane.results());
      g_.publish(lane.finished, ++done);
    }
  }

  Task pass_result(Lane& lane, Signal& ready) {
    std::uint64_t done = 0;
    for (std::size_t index = lane.index; index < segments_; index += kLanes) {
      const Call part = part_of(call_, segment(index));
      co_await g_.reached(ready, ++done);
      co_await g_.send(part.output, part.bytes(), result_to_, lane.results());
    }
  }

  Group& g_;
  const Call call_;
  const Line line_;
  const std::size_t segments_;
  const int result_from_;
  const int result_to_;
  const bool passes_result_;
};

}  // namespace

Task linear_tree(Group& g, Call call, Results results) {
  if (g.size() == 1 || call.count == 0) {
    g.copy(call.output, call.input, call.bytes());
    co_return;
  }
  LinearTree tree(g, call, results);
  std::array<Lane, kLanes> lanes;
  TaskGroup stages;
  for (std::size_t index = 0; index < kLanes; ++index) {
    lanes[index].index = index;
    tree.spawn_stages(stages, lanes[index]);
  }
  co_await stages.join();
}

}  // namespace stretto
