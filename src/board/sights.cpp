#include "board/sights.hpp"

#include <algorithm>

namespace stretto {

std::size_t Sights::memory_bytes(int ranks) { return 2 * kKinds * static_cast<std::size_t>(ranks) * sizeof(Row); }

void Sights::clear(std::byte* memory, int ranks) {
  const std::span rows(reinterpret_cast<Row*>(memory), memory_bytes(ranks) / sizeof(Row));
  for (Row& row : rows) row.told.store(0, std::memory_order_relaxed);
}

void Sights::tell(std::size_t kind, std::uint64_t number, std::span<const Sight> mine, std::int64_t cost_ns) {
  Row& own = row(kind, number, rank_);
  own.cost_ns = cost_ns;
  std::ranges::copy(mine, own.calls.begin());
  own.told.store(number, std::memory_order_release);
}

}  // namespace stretto
