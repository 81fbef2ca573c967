#include "algorithms/parts/direct_exchange.hpp"

#include "algorithms/parts/announcements.hpp"

namespace stretto {
namespace {

constexpr int kAtATime = 2;  // keeps the port busy; with more, the blocks of early ranks wait for each other

struct Turns {
  Announcements announcements{};
  int given = 0;
};

Task serve(Group& g, const Call& call, Turns& turns) {
  while (turns.given < g.size() - 1) {
    const auto turn = static_cast<std::uint64_t>(++turns.given);
    co_await g.reached(turns.announcements.heard, turn);
    co_await send_block(g, call, turns.announcements.take());
  }
}

Task run_all(std::vector<Transfer>& transfers) {
  for (Transfer& each : transfers) each.start();
  for (Transfer& each : transfers) co_await each;
}

}  // namespace

Task exchange_at_once(Group& g, const Call& call) {
  std::vector<Transfer> transfers;
  for (int step = 1; step < g.size(); ++step) transfers.push_back(receive_block_from(g, call, rank_before(g, step)));
  for (int step = 1; step < g.size(); ++step) transfers.push_back(send_block(g, call, rank_after(g, step)));
  copy_own_block(g, call);
  co_await run_all(transfers);
}

Task exchange_as_announced(Group& g, const Call& call) {
  std::vector<Transfer> announcing;
  std::vector<Transfer> receives;
  for (int step = 1; step < g.size(); ++step) {
    announcing.push_back(g.send(nullptr, 0, rank_after(g, step)));
    receives.push_back(receive_block_from(g, call, rank_before(g, step)));
  }
  Turns turns;
  TaskGroup all;
  all.spawn(run_all(announcing));
  hear_announcements(g, turns.announcements, all);
  all.spawn(run_all(receives));  // behind the announcements, which come before the blocks
  for (int i = 0; i < kAtATime; ++i) all.spawn(serve(g, call, turns));
  copy_own_block(g, call);
  co_await all.join();
}

}  // namespace stretto
