#include "mpi/engine/node_memory.hpp"

#include <algorithm>
#include <utility>

#include "core/clock.hpp"
#include "transport/shm/memory_limit.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kPart = 8;                             // of the node's memory, unless the user has set a bound
constexpr std::size_t kWorthLooking = std::size_t{1} << 20;  // bytes: less is not what fills a memory

// What is not given out of the arena is bound all the same, but takes no memory: pages are there when they are used.
std::size_t arena_bytes(std::size_t limit) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  constexpr std::size_t kPartForArena = 8;  // of the bound
  return std::min(kMost, limit / kPartForArena) / shm::Arena::kLine * shm::Arena::kLine;
}

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

}  // namespace

CountedSegment& CountedSegment::operator=(CountedSegment&& other) noexcept {
  std::swap(counted_by_, other.counted_by_);
  std::swap(segment_, other.segment_);
  return *this;
}

CountedSegment::~CountedSegment() {
  if (counted_by_ != nullptr) counted_by_->give_back(segment_.bytes());
}

void NodePool::use(std::size_t half, std::size_t bytes) {
  latest_use_ns = monotonic_ns();
  auto& [used, mapped] = halves_[half];
  if (const std::size_t placed = std::min(bytes, used); placed > mapped) {
    segment.map_placed(half * pool.window() + mapped, placed - mapped);
    mapped = placed;
  }
  used = std::max(used, bytes);
}

void NodePool::give_back_if_idle() {
  constexpr std::int64_t kIdleNs = 1'000'000'000;
  if (!has_pages() || monotonic_ns() - latest_use_ns < kIdleNs || !pool.is_left()) return;
  segment.give_pages_back();
  halves_ = {};
}

std::size_t NodeMemory::wanted_limit(std::optional<std::size_t> set) {
  return set ? *set : shm::find_memory_limit().bytes / kPart;
}

NodeMemory::CommonName NodeMemory::make_common(std::size_t limit) {
  std::string error;
  common_segment_ = shm::Segment::create(sizeof(Common) + arena_bytes(limit), error);
  if (common_segment_) common_ = reinterpret_cast<Common*>(common_segment_.memory());
  made_common_ = has_common();
  return {common_segment_.name(), common_segment_.bytes()};
}

void NodeMemory::attach_common(const CommonName& name) {
  std::string error;
  if (name.bytes > 0) common_segment_ = shm::Segment::attach(name.segment, name.bytes, error);
  if (common_segment_) common_ = reinterpret_cast<Common*>(common_segment_.memory());
}

void NodeMemory::open(std::size_t limit, bool all_have_common) {
  limit_ = limit;
  common_segment_.close_descriptor();
  if (!all_have_common) return;
  const std::size_t bytes = std::min(arena_bytes(limit), common_segment_.bytes() - sizeof(Common));
  arena_.open(common_segment_.memory() + sizeof(Common), bytes, common_->given_out);
  if (made_common_) used().fetch_add(bytes, std::memory_order_relaxed);
}

CountedSegment NodeMemory::create(std::size_t bytes, std::string& error) {
  const std::size_t before = used().fetch_add(bytes, std::memory_order_relaxed);
  shm::Segment segment;
  if (before + bytes > limit_) {
    error = mebibytes(before) + " of the " + mebibytes(limit_) +
            " that Stretto may take of this node are taken; set STRETTO_SHM_MAX_MIB higher";
  } else if (bytes >= kWorthLooking && shm::find_memory_limit().available / 2 < bytes) {
    error = "less than twice as much memory is free on this node or in this control group";
  } else {
    segment = shm::Segment::create(bytes, error);
  }
  if (segment) return {this, std::move(segment)};
  give_back(bytes);
  return {};
}

std::shared_ptr<NodePool> NodeMemory::pool_of(const std::vector<int>& mates, bool shared) {
  if (!shared) return std::make_shared<NodePool>();
  std::erase_if(pools_, [](const auto& known) { return known.second.expired(); });
  std::weak_ptr<NodePool>& known = pools_[mates];
  std::shared_ptr<NodePool> pool = known.lock();
  if (pool == nullptr) known = pool = std::make_shared<NodePool>();
  return pool;
}

}  // namespace stretto::mpi
