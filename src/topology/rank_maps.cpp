#include "topology/rank_maps.hpp"

#include <algorithm>
#include <numeric>

namespace stretto {

std::shared_ptr<const Renumbering> RankMaps::find(MakeMap make, int first) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(kept_, [&](const Kept& k) { return k.make == make && k.first == first; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().numbers;
  }
  auto numbers = std::make_shared<Renumbering>();
  numbers->rank_of = make(topology_, first);
  numbers->virtual_of.resize(numbers->rank_of.size());
  for (std::size_t virtual_rank = 0; virtual_rank < numbers->rank_of.size(); ++virtual_rank) {
    numbers->virtual_of[static_cast<std::size_t>(numbers->rank_of[virtual_rank])] = static_cast<int>(virtual_rank);
  }
  kept_.push_front({make, first, std::move(numbers)});
  if (kept_.size() > kMostKept) kept_.pop_back();
  return kept_.front().numbers;
}

std::shared_ptr<const Division> RankMaps::division() {
  const std::scoped_lock lock(mutex_);
  if (!division_) {
    std::vector<int> ranks(static_cast<std::size_t>(topology_.ranks()));
    std::iota(ranks.begin(), ranks.end(), 0);
    division_ = divide(topology_, std::move(ranks));
  }
  return *division_;
}

}  // namespace stretto
