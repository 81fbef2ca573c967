// Announced linear: a rank that arrives tells the root, and the root takes from two ranks at a time of those that have
// announced themselves.
//
// Acts on what has happened, without knowing anything ahead. Two at a time keep the root's port busy; with all at once
// (linear_nonblocking) the early ranks' blocks wait for each other, and get into the way of what the root itself sends.
// `background_announced_linear` takes before the root arrives. Cost: α + (P-1)(α + nβ), n bytes a block, most
// announcements being hidden. After the last arrival, if that is not the root and the others' blocks are in: 2α + nβ.
// If that is the root: (P-1) nβ, in the background the copies out of the memory in which early blocks are kept.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/announcements.hpp"
#include "algorithms/patterns/blocks.hpp"

namespace stretto::gather {
namespace {

constexpr int kAtATime = 2;

struct Intake {
  Announcements announcements;
  int turns = 0;              // that have been given out
  std::byte* kept = nullptr;  // where blocks go that come before the root
  std::vector<int> early;     // whose blocks these are, but for those that are coming in
};

void copy_kept(Group& g, const Call& call, const Intake& intake, int rank) {
  const Block theirs = block_of(call, rank);
  g.copy(call.output + offset(call, theirs), intake.kept + offset(call, theirs), bytes(call, theirs));
}

Task take_turns(Group& g, Call& call, Intake& intake) {
  while (intake.turns < g.size() - 1) {
    const auto turn = static_cast<std::uint64_t>(++intake.turns);
    co_await g.reached(intake.announcements.heard, turn);
    const int rank = intake.announcements.waiting.front();
    intake.announcements.waiting.pop_front();
    const Block theirs = block_of(call, rank);
    const bool keep = !call.is_here();
    co_await g.recv((keep ? intake.kept : call.output) + offset(call, theirs), bytes(call, theirs), rank);
    if (!call.is_here()) {
      intake.early.push_back(rank);
    } else if (keep) {
      copy_kept(g, call, intake, rank);
    }
  }
}

// When the root is there: its own block, and what has come before it.
Task move_in(Group& g, Call& call, const Intake& intake) {
  co_await g.caller(call);
  const Block mine = block_of(call, call.root);
  g.copy(call.output + offset(call, mine), call.input, bytes(call, mine));
  for (int rank : intake.early) copy_kept(g, call, intake, rank);
}

}  // namespace

Task announced_linear(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.caller(call);
    Transfer announcement = g.send(nullptr, 0, call.root);
    announcement.start();
    co_await g.send(call.input, call.bytes(), call.root);
    co_await announcement;
    co_return;
  }
  Scratch memory = g.scratch(call.is_here() ? 0 : static_cast<std::size_t>(g.size()) * call.bytes());
  Intake intake;
  intake.kept = memory.data();
  TaskGroup all;
  hear_announcements(g, call, intake.announcements, all);
  for (int i = 0; i < kAtATime; ++i) all.spawn(take_turns(g, call, intake));
  all.spawn(move_in(g, call, intake));
  co_await all.join();
}

}  // namespace stretto::gather
