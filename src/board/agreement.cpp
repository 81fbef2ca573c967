#include "board/agreement.hpp"

namespace stretto {

std::vector<Agreement::Words> Agreement::exchange(const Words& mine, Platform& platform, Watchdog& watch) {
  const std::size_t parity = ++round_ % 2;
  places_[rank_].words[parity] = mine;
  platform.publish(places_[rank_].round, round_);
  std::vector<Words> all;
  for (int rank = 0; rank < ranks_; ++rank) {
    Place& theirs = places_[rank];
    for (unsigned idle_rounds = 0; !theirs.round.reached(round_); ++idle_rounds) {
      platform.idle(&theirs.round, round_, idle_rounds);
      if (watch.is_hopeless()) return {};
    }
    all.push_back(theirs.words[parity]);
  }
  return all;
}

}  // namespace stretto
