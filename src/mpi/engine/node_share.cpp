#include "mpi/engine/node_share.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>

#include "transport/shm/mailboxes.hpp"
#include "transport/shm/shared_words.hpp"
#include "transport/shm/single_copy.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kSmallestPool = std::size_t{4} << 20;
constexpr std::size_t kLargestPool = std::size_t{128} << 20;  // longer messages go through it in parts

// Says once a process, and from one of the ranks only, why there is no shared memory.
void complain_once(bool speaker, const std::string& message) {
  static std::atomic<bool> told{false};
  if (told.exchange(true) || !speaker) return;
  std::fprintf(stderr, "stretto: %s. Algorithms that need shared memory give way to others.\n", message.c_str());
}

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }

}  // namespace

std::size_t NodeShare::largest_pool(std::size_t limit) { return std::bit_floor(std::min(limit, kLargestPool)); }

std::unique_ptr<NodeShare> NodeShare::make(Members members, World& world) {
  std::unique_ptr<NodeShare> share(new NodeShare(std::move(members), world));
  if (!share->make_board()) return nullptr;
  return share;
}

bool NodeShare::make_board() {
  // The same on all nodes, so that all ranks find the same room left for a pool.
  const int ranks = members_.most_mates;
  const bool one_node = ranks == members_.size;
  const std::size_t board_bytes = Board::memory_bytes(ranks);
  const std::size_t mailbox_bytes =
      one_node && ranks <= shm::MailboxTransport::kMostRanks ? shm::MailboxTransport::memory_bytes(ranks) : 0;
  const std::size_t ledger_bytes = Ledger::memory_bytes(ranks);
  const std::size_t agreement_bytes = Agreement::memory_bytes(ranks);
  const std::size_t bytes = board_bytes + ledger_bytes + agreement_bytes + mailbox_bytes +
                            (one_node ? shm::SharedWords::memory_bytes(ranks) : 0);
  const std::size_t limit = world_.memory().limit();
  if (bytes > limit) {
    complain_once(members_.rank == 0, "STRETTO_SHM_MAX_MIB=" + std::to_string(limit >> 20) +
                                          " leaves no shared memory for " + std::to_string(ranks) +
                                          " ranks, which takes " + mebibytes(bytes) + "; set it higher");
    return false;
  }
  Shared shared = share(bytes, "the arrival board");
  if (!shared.segment) return false;
  memory_ = std::make_shared<CountedSegment>(std::move(shared.segment));
  processes_ = std::move(shared.processes);
  const auto& mates = members_.mates;
  const auto place = std::ranges::find(mates, members_.rank) - mates.begin();
  std::byte* memory = memory_->memory();
  board_ = std::make_unique<Board>(memory, static_cast<int>(mates.size()), static_cast<int>(place));
  memory += board_bytes;
  ledger_.emplace(memory, mates, static_cast<std::size_t>(place));
  memory += ledger_bytes;
  if (one_node) agreement_.emplace(memory, ranks, members_.rank);
  memory += agreement_bytes;
  if (mailbox_bytes > 0) mailboxes_ = memory;
  if (one_node) words_ = memory + mailbox_bytes;
  largest_pool_ = largest_pool(limit - bytes);
  return true;
}

// What each rank of the communicator gives. Over the node's memory where that is enough: not all ranks need come here,
// as they may wrongly be in different calls; then nothing.
template <class Value>
std::vector<Value> NodeShare::gather(const Value& mine) {
  std::vector<Value> all(static_cast<std::size_t>(members_.size));
  if (watch_ == nullptr) {
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, members_.comm);
    return all;
  }
  Agreement::Words words{};
  static_assert(sizeof mine <= sizeof words);
  std::memcpy(words.data(), &mine, sizeof mine);
  const std::vector<Agreement::Words> given = agreement_->exchange(words, *platform_, *watch_);
  all.resize(given.size());
  for (std::size_t rank = 0; rank < given.size(); ++rank)
    std::memcpy(static_cast<void*>(&all[rank]), given[rank].data(), sizeof mine);
  return all;
}

// Of all ranks of the communicator, one by one; false where not all come.
bool NodeShare::find_least(std::array<int, 2>& values) {
  if (watch_ == nullptr) {
    PMPI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_INT, MPI_MIN, members_.comm);
    return true;
  }
  const std::vector<std::array<int, 2>> all = gather(values);
  for (const auto& [first, second] : all) values = {std::min(values[0], first), std::min(values[1], second)};
  return !all.empty();
}

// The lowest rank of each node makes a segment, the others attach it. Everybody reads a number of the next rank on the
// node by single copy; the processes are known after if all could. Agreed by all, as one refusal would break the rest.
NodeShare::Shared NodeShare::share(std::size_t bytes, const char* purpose) {
  struct Offer {
    shm::SegmentName segment;
    std::uint64_t address;
    std::uint64_t number;
  };
  const int rank = members_.rank;
  const std::vector<int>& mates = members_.mates;
  const std::uint64_t number = static_cast<std::uint64_t>(getpid()) * 0x9E3779B97F4A7C15U;
  Offer mine{{getpid()}, reinterpret_cast<std::uint64_t>(&number), number};
  std::string error;
  CountedSegment segment;
  if (rank == mates.front()) {
    segment = world_.memory().create(bytes, error);
    mine.segment = segment.name();
  }
  const std::vector<Offer> offers = gather(mine);
  if (offers.empty()) return {};
  const auto offer_of = [&](int mate) -> const Offer& { return offers[static_cast<std::size_t>(mate)]; };
  const Offer& first = offer_of(mates.front());
  if (rank != mates.front() && first.segment.descriptor >= 0) {
    segment = {nullptr, shm::Segment::attach(first.segment, bytes, error)};
  }
  const auto after = std::ranges::upper_bound(mates, rank);
  const Offer& next = offer_of(after == mates.end() ? mates.front() : *after);
  std::uint64_t seen = 0;
  const bool read = members_.single_copy && shm::read_process(next.segment.creator, &seen, next.address, sizeof seen) &&
                    seen == next.number;
  // The lowest rank without it, if any, speaks for them.
  std::array<int, 2> agreed = {segment ? members_.size : rank, read ? 1 : 0};
  if (!find_least(agreed)) return {};
  if (const int first_without = agreed[0]; first_without < members_.size) {
    complain_once(rank == first_without,
                  "no shared memory for " + std::string(purpose) + " (" + mebibytes(bytes) + "): " + error);
    return {};
  }
  segment.close_descriptor();
  Shared shared{std::move(segment), {}};
  for (int mate : mates) {
    if (agreed[1] != 0) shared.processes.push_back(offer_of(mate).segment.creator);
  }
  return shared;
}

bool NodeShare::ensure_pool(std::size_t bytes) {
  const std::size_t wanted = std::min(std::max(std::bit_ceil(2 * bytes), kSmallestPool), largest_pool_);
  if (largest_pool_ == 0) return false;
  if (pool_bytes_ >= wanted) return true;
  if (pool_ == nullptr) {
    // On several nodes others could have made the pool of one longer than those of the rest.
    const bool one_node = members_.most_mates == members_.size;
    pool_ = world_.memory().pool_of(members_.real_mates, one_node && world_.calls_come_in_order());
    board_->attach_pool(std::shared_ptr<Pool>(pool_, &pool_->pool), memory_);
  }
  // Nobody gets through these agreements before everybody is here, and has left every earlier call of the communicators
  // that share the pool: so nobody uses the old one any more.
  std::array<int, 2> have = {pool_->pool.bytes >= wanted ? 1 : 0, 0};
  if (!find_least(have)) return false;
  if (have[0] != 0) {
    pool_bytes_ = wanted;
    return true;
  }
  Shared shared;
  if (wanted >= 2 * Board::kMinChunkBytes) shared = share(wanted, "long messages");
  if (shared.segment) {
    pool_->move_to(std::move(shared.segment));
    pool_bytes_ = wanted;
  } else {
    largest_pool_ = pool_bytes_;
  }
  return pool_bytes_ > 0;
}

}  // namespace stretto::mpi
