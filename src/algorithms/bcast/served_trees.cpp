#include "algorithms/bcast/served_trees.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "algorithms/parts/blocks.hpp"

namespace stretto {
namespace {

constexpr std::uint32_t kData = 1;    // streams from this one on, one a lane
constexpr std::size_t kLanes = 3;     // segments on their way to one rank: receiving one overlaps passing others on
constexpr std::size_t kUnderWay = 2;  // sub-trees that the root serves; each takes all n bytes from it

// What the root tells a rank before data flow.
struct Place {
  std::int32_t parent = -1;
  std::int32_t children = 0;
  std::int32_t child[31] = {};  // as many as the root of a binomial tree of 2^31 ranks has

  void add(int rank) { child[children++] = rank; }
};

std::uint32_t stream_of(std::size_t segment) { return kData + static_cast<std::uint32_t>(segment % kLanes); }

Task pass_on(Group& g, Call call, const Place& place, std::size_t segments, std::size_t lane) {
  for (std::size_t segment = lane; segment < segments; segment += kLanes) {
    const Call part = part_of(call, even_block(call.count, segments, segment));
    co_await g.recv(part.output, part.bytes(), place.parent, stream_of(segment));
    for (int i = 0; i < place.children; ++i)
      co_await g.send(part.output, part.bytes(), place.child[i], stream_of(segment));
  }
}

// A sub-tree that the root serves.
struct SubTree {
  int root;
  std::size_t sent = 0;  // segments
};

Task give_places(Group& g, const std::vector<int>& ranks, bool binary) {
  std::vector<Place> places(ranks.size());
  places.front().parent = g.rank();
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const std::size_t parent = binary ? (i - 1) / 2 : i - std::bit_floor(i);
    places[i].parent = ranks[parent];
    places[parent].add(ranks[i]);
  }
  std::vector<Transfer> notices;
  notices.reserve(ranks.size());  // transfers stay where they are while under way
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    notices.push_back(g.send(reinterpret_cast<std::byte*>(&places[i]), sizeof(Place), ranks[i], kNotices));
    notices.back().start();
  }
  for (Transfer& notice : notices) co_await notice;
}

}  // namespace

Task serve_in_trees(Group& g, const Call& call, std::size_t segments, Announcements& announcements,
                    std::size_t announcers) {
  const std::size_t window = segments > 1 ? kLanes : 1;  // a blocking message is through before the root looks again
  std::size_t placed = 0;
  std::deque<SubTree> under_way;
  std::deque<Transfer> sends;
  while (placed < announcers || !under_way.empty()) {
    if (under_way.empty()) co_await g.reached(announcements.heard, placed + 1);
    if (!announcements.waiting.empty() && under_way.size() < kUnderWay) {
      const std::vector<int> ranks(announcements.waiting.begin(), announcements.waiting.end());
      announcements.waiting.clear();
      placed += ranks.size();
      co_await give_places(g, ranks, /*binary=*/segments > 1);
      under_way.push_back({ranks.front()});
    }
    SubTree tree = under_way.front();
    under_way.pop_front();
    const Call part = part_of(call, even_block(call.count, segments, tree.sent));
    sends.push_back(g.send(part.output, part.bytes(), tree.root, stream_of(tree.sent)));
    sends.back().start();
    if (++tree.sent < segments) under_way.push_back(tree);
    while (sends.size() >= window) {
      Transfer& oldest = sends.front();
      co_await oldest;
      sends.pop_front();
    }
  }
  for (Transfer& send : sends) co_await send;
}

Task take_place_in_tree(Group& g, const Call& call, std::size_t segments, Transfer announcement) {
  announcement.start();
  Place place;
  co_await g.recv(reinterpret_cast<std::byte*>(&place), sizeof place, call.root, kNotices);
  TaskGroup lanes;
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes.spawn(pass_on(g, call, place, segments, lane));
  co_await lanes.join();
  co_await announcement;
}

}  // namespace stretto
