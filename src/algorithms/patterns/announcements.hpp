// Ranks that announce themselves to a root, which acts on who is there.
#pragma once

#include <deque>

#include "algorithms/patterns/others.hpp"
#include "core/group.hpp"

namespace stretto {

/// What the root has heard so far. Any other rank announces itself with an empty message on stream 0.
struct Announcements {
  std::deque<int> waiting;  // announced, and not acted upon yet
  Signal heard;             // how many have announced themselves at all
};

inline Task hear_announcement(Group& g, int rank, Announcements& announcements) {
  co_await g.recv(nullptr, 0, rank);
  announcements.waiting.push_back(rank);
  g.publish(announcements.heard, announcements.heard.value.load(std::memory_order_relaxed) + 1);
}

/// At the root: hears of every other rank.
inline void hear_announcements(Group& g, const Call& call, Announcements& announcements, TaskGroup& tasks) {
  for (int rank : others(g, call)) tasks.spawn(hear_announcement(g, rank, announcements));
}

}  // namespace stretto
