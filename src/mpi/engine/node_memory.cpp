#include "mpi/engine/node_memory.hpp"

#include <utility>

#include "transport/shm/memory_limit.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kPart = 8;                             // of the node's memory, unless the user has set a bound
constexpr std::size_t kWorthLooking = std::size_t{1} << 20;  // bytes: less is not what fills a memory
constexpr std::size_t kLedgerBytes = 4096;

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

std::size_t NodeMemory::wanted_limit(std::optional<std::size_t> set) {
  return set ? *set : shm::find_memory_limit().bytes / kPart;
}

shm::SegmentName NodeMemory::make_ledger() {
  std::string error;
  ledger_segment_ = shm::Segment::create(kLedgerBytes, error);
  if (ledger_segment_) ledger_ = reinterpret_cast<Word*>(ledger_segment_.memory());
  return ledger_segment_.name();
}

void NodeMemory::attach_ledger(const shm::SegmentName& ledger) {
  std::string error;
  if (ledger.descriptor >= 0) ledger_segment_ = shm::Segment::attach(ledger, kLedgerBytes, error);
  if (ledger_segment_) ledger_ = reinterpret_cast<Word*>(ledger_segment_.memory());
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
