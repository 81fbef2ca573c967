#include "algorithms/reduce/meetings.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace stretto {
namespace {

constexpr int kNobody = -1;
constexpr std::int64_t kNever = -1;

class Planner {
 public:
  Planner(std::span<const std::int64_t> expected_ns, int root, std::size_t segments, std::size_t segment_bytes,
          const Costs& costs)
      : root_(root),
        wire_ns_(costs.wire_ns(segment_bytes)),
        meeting_ns_(costs.message_ns(segment_bytes) + costs.reduce_ns(segment_bytes)),
        links_(expected_ns.size()),
        segments_(segments) {
    for (std::size_t segment = 0; segment < segments; ++segment) {
      for (std::size_t rank = 0; rank < expected_ns.size(); ++rank)
        events_.push({expected_ns[rank], segment, static_cast<int>(rank)});
    }
  }

  std::vector<Meeting> run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      Segment& segment = segments_[event.segment];
      if (event.rank == kNobody && segment.look_ns != event.time_ns) continue;  // overtaken by an earlier look
      if (event.rank == kNobody) segment.look_ns = kNever;
      if (event.rank != kNobody) segment.ready.push_back(event.rank);
      look(event.segment, event.time_ns);
    }
    return std::move(meetings_);
  }

 private:
  struct Event {
    std::int64_t time_ns;
    std::size_t segment;
    int rank;  // whose partial is ready; kNobody: look again
    bool operator<(const Event& other) const {
      return std::tie(other.time_ns, other.segment, other.rank) < std::tie(time_ns, segment, rank);
    }
  };
  struct Link {
    std::int64_t out_free_ns = 0;
    std::int64_t in_free_ns = 0;
  };
  struct Segment {
    std::vector<int> ready;  // those longest ready first
    std::int64_t look_ns = kNever;
  };
  struct Pair {
    int sender;
    int receiver;
    std::int64_t start_ns;
  };

  const Link& link(int rank) const { return links_[static_cast<std::size_t>(rank)]; }

  // The rank whose outgoing link is free first, the root excepted.
  int sender(const std::vector<int>& ready, std::int64_t now_ns, int except) const {
    int found = kNobody;
    for (int rank : ready) {
      if (rank == root_ || rank == except) continue;
      if (found == kNobody || std::max(link(rank).out_free_ns, now_ns) < std::max(link(found).out_free_ns, now_ns))
        found = rank;
    }
    return found;
  }
  // The rank whose incoming link is free first, the root only if it is sooner than all others.
  int receiver(const std::vector<int>& ready, std::int64_t now_ns, int except) const {
    const auto free = [&](int rank) { return std::tuple(std::max(link(rank).in_free_ns, now_ns), rank == root_); };
    int found = kNobody;
    for (int rank : ready) {
      if (rank == except) continue;
      if (found == kNobody || free(rank) < free(found)) found = rank;
    }
    return found;
  }
  Pair pair(int sender, int receiver, std::int64_t now_ns) const {
    return {sender, receiver, std::max({link(sender).out_free_ns, link(receiver).in_free_ns, now_ns})};
  }
  // The two that can meet first. One rank may be first as sender and as receiver: then it is one of them.
  Pair first_pair(const std::vector<int>& ready, std::int64_t now_ns) const {
    const int sends = sender(ready, now_ns, kNobody);
    const Pair sender_first = pair(sends, receiver(ready, now_ns, sends), now_ns);
    if (sender_first.start_ns == now_ns) return sender_first;
    const int receives = receiver(ready, now_ns, kNobody);
    const int other = sender(ready, now_ns, receives);
    if (other == kNobody) return sender_first;
    const Pair receiver_first = pair(other, receives, now_ns);
    return receiver_first.start_ns < sender_first.start_ns ? receiver_first : sender_first;
  }

  void look_again(std::size_t index, std::int64_t time_ns) {
    Segment& segment = segments_[index];
    if (segment.look_ns != kNever && segment.look_ns <= time_ns) return;
    segment.look_ns = time_ns;
    events_.push({time_ns, index, kNobody});
  }

  void look(std::size_t index, std::int64_t now_ns) {
    std::vector<int>& ready = segments_[index].ready;
    if (ready.size() < 2) return;
    const Pair next = first_pair(ready, now_ns);
    if (next.start_ns > now_ns) {
      look_again(index, next.start_ns);
      return;
    }
    std::erase_if(ready, [&](int rank) { return rank == next.sender || rank == next.receiver; });
    links_[static_cast<std::size_t>(next.sender)].out_free_ns = now_ns + wire_ns_;
    links_[static_cast<std::size_t>(next.receiver)].in_free_ns = now_ns + wire_ns_;
    meetings_.push_back({index, next.sender, next.receiver});
    events_.push({now_ns + meeting_ns_, index, next.receiver});
    if (ready.size() > 1) look_again(index, now_ns);
  }

  const int root_;
  const std::int64_t wire_ns_;
  const std::int64_t meeting_ns_;
  std::vector<Link> links_;  // by rank
  std::vector<Segment> segments_;
  std::priority_queue<Event> events_;
  std::vector<Meeting> meetings_;
};

}  // namespace

std::vector<Meeting> plan_meetings(std::span<const std::int64_t> expected_ns, int root, std::size_t segments,
                                   std::size_t segment_bytes, const Costs& costs) {
  return Planner(expected_ns, root, segments, segment_bytes, costs).run();
}

}  // namespace stretto
