// Ranks that announce themselves to others, which act on who is there.
#pragma once

#include <deque>
#include <map>

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

inline void note_announcement(Group& g, int rank, Announcements& announcements) {
  announcements.waiting.push_back(rank);
  g.publish(announcements.heard, announcements.heard.value.load(std::memory_order_relaxed) + 1);
}

inline Task hear_announcement(Group& g, int rank, Announcements& announcements) {
  co_await g.recv(nullptr, 0, rank);
  note_announcement(g, rank, announcements);
}

/// Hears of every other rank.
inline void hear_announcements(Group& g, Announcements& announcements, TaskGroup& tasks) {
  for (int rank = 0; rank < g.size(); ++rank) {
    if (rank != g.rank()) tasks.spawn(hear_announcement(g, rank, announcements));
  }
}

/// An announcement by a rank that is not known ahead.
struct Introduction {
  std::uint64_t call;  // a number that the ranks have in common: under other roots the sender may be calls ahead
  std::int32_t rank;
};

/// Hears of `count` ranks that introduce themselves for the call of that number, on kStreamOfAnnouncements. `early` has
/// those who have done so for calls that are still to come.
inline Task hear_introductions(Group& g, std::uint64_t call, std::size_t count,
                               std::multimap<std::uint64_t, int>& early, Announcements& announcements) {
  for (auto known = early.find(call); known != early.end(); known = early.find(call)) {
    note_announcement(g, known->second, announcements);
    early.erase(known);
    --count;
  }
  while (count > 0) {
    Introduction heard{};
    co_await g.recv(reinterpret_cast<std::byte*>(&heard), sizeof heard, kAnyRank, kStreamOfAnnouncements);
    if (heard.call == call) {
      note_announcement(g, heard.rank, announcements);
      --count;
    } else {
      early.emplace(heard.call, heard.rank);
    }
  }
}

}  // namespace stretto
