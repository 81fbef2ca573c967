// Ranks that announce themselves to others, which act on who is there.
#pragma once

#include <deque>

#include "core/group.hpp"

namespace stretto {

/// What a rank has heard so far. The others announce themselves with an empty message on stream 0.
struct Announcements {
  std::deque<int> waiting;  // announced, and not acted upon yet
  Signal heard;             // how many have announced themselves at all

  int take() {
    const int rank = waiting.front();
    waiting.pop_front();
    return rank;
  }
};

inline Task hear_announcement(Group& g, int rank, Announcements& announcements) {
  co_await g.recv(nullptr, 0, rank);
  announcements.waiting.push_back(rank);
  g.publish(announcements.heard, announcements.heard.value.load(std::memory_order_relaxed) + 1);
}

/// Hears of every other rank.
inline void hear_announcements(Group& g, Announcements& announcements, TaskGroup& tasks) {
  for (int rank = 0; rank < g.size(); ++rank) {
    if (rank != g.rank()) tasks.spawn(hear_announcement(g, rank, announcements));
  }
}

}  // namespace stretto
