// Announced linear: a rank that arrives tells the root, and the root takes from two ranks at a time of those that have
// announced themselves.
//
// Acts on what has happened, without knowing anything ahead. Two at a time keep the root's port busy; with all at once
// (linear_nonblocking) the early ranks' blocks wait for each other, and get into the way of what the root itself sends.
// `background_announced_linear` takes before the root arrives. Cost: α + (P-1)(α + nβ), n bytes a block, most
// announcements being hidden. After the last arrival, if that is not the root and the others' blocks are in: 2α + nβ.
// If that is the root: (P-1) nβ, in the background the copies out of the memory in which early blocks are kept.

#include "algorithms/gather/early_blocks.hpp"
#include "algorithms/parts/announcements.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {
namespace {

constexpr int kAtATime = 2;

struct Intake {
  EarlyBlocks blocks;
  Announcements announcements{};
  int turns = 0;             // that have been given out
  std::vector<int> early{};  // whose blocks have come before the root
};

Task take_turns(Group& g, Call& call, Intake& intake) {
  while (intake.turns < g.size() - 1) {
    const auto turn = static_cast<std::uint64_t>(++intake.turns);
    co_await g.reached(intake.announcements.heard, turn);
    const int rank = intake.announcements.take();
    std::byte* place = intake.blocks.place(rank);
    co_await g.recv(place, bytes(call, block_of(call, rank)), rank);
    if (call.is_here()) {
      intake.blocks.move_in(rank);
    } else {
      intake.early.push_back(rank);
    }
  }
}

// When the root is there: its own block, and what has come before it.
Task move_in(Group& g, Call& call, Intake& intake) {
  co_await g.caller(call);
  put_own_block(g, call);
  for (int rank : intake.early) intake.blocks.move_in(rank);
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
  Intake intake{EarlyBlocks(g, call)};
  TaskGroup all;
  hear_announcements(g, intake.announcements, all);
  for (int i = 0; i < kAtATime; ++i) all.spawn(take_turns(g, call, intake));
  all.spawn(move_in(g, call, intake));
  co_await all.join();
}

using namespace letters;

extern constinit const Description announced_linear_described{
    .collective = Collective::gather,
    .with_lengths = Collective::gatherv,
    .name = "announced_linear",
    .run = &announced_linear,
    .summary = "ranks announce themselves, the root takes from two at a time",
    .source = "Stretto",
    .cost = {.balanced = P * alpha + N * beta, .after_last = 2 * alpha + n * beta},
    .variants =
        {
            {.name = "background_announced_linear",
             .ahead = true,
             .summary = "the same, taken before the root arrives"},
        },
};

}  // namespace stretto::gather
