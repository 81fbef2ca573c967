#include "transport/shm/arena.hpp"

#include <algorithm>

namespace stretto::shm {

void Arena::open(std::byte* memory, std::size_t bytes, Atomic<std::uint64_t>& given_out) {
  memory_ = memory;
  bytes_ = bytes;
  given_out_ = &given_out;
}

std::optional<std::uint32_t> Arena::take(std::size_t bytes, std::uint32_t holders) {
  const std::scoped_lock lock(mutex_);
  const std::size_t whole = kLine + (bytes + kLine - 1) / kLine * kLine;
  std::vector<std::uint32_t>& taken = taken_[whole];
  // acquire: what the last holders have done to it is done.
  const auto is_free = [&](std::uint32_t part) { return header(part).holders.load(std::memory_order_acquire) == 0; };
  auto found = std::ranges::find_if(taken, is_free);
  if (found == taken.end()) {
    if (bytes_ == 0) return std::nullopt;
    const std::uint64_t begin = given_out_->fetch_add(whole, std::memory_order_relaxed);
    if (begin + whole > bytes_) {
      given_out_->fetch_add(-whole, std::memory_order_relaxed);
      return std::nullopt;
    }
    found = taken.insert(taken.end(), static_cast<std::uint32_t>(begin / kLine));
  }
  header(*found).holders.store(holders, std::memory_order_relaxed);
  return *found;
}

void Arena::take_back(std::uint32_t part) { header(part).holders.store(0, std::memory_order_relaxed); }

void Arena::let_go(std::uint32_t part) {
  header(part).holders.fetch_add(static_cast<std::uint32_t>(-1), std::memory_order_release);
}

std::byte* Arena::memory_of(std::uint32_t part) const { return memory_ + part * kLine + kLine; }

}  // namespace stretto::shm
