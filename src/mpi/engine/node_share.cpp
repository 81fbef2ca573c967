#include "mpi/engine/node_share.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>

#include "transport/shm/mailboxes.hpp"
#include "transport/shm/shared_words.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kSmallestPool = std::size_t{4} << 20;
constexpr std::size_t kLongPool = std::size_t{4} << 20;       // bytes of one call: below, the pages are few
constexpr int kAskedBefore = 16;                              // times
constexpr std::size_t kLargestPool = std::size_t{128} << 20;  // longer messages go through it in parts

// Says once a process, and from one of the ranks only, why there is no shared memory.
void complain_once(bool speaker, const std::string& message) {
  static std::atomic<bool> told{false};
  if (told.exchange(true) || !speaker) return;
  std::fprintf(stderr, "stretto: %s. Algorithms that need shared memory give way to others.\n", message.c_str());
}

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }

// What so many ranks of a node need but for the pool, in this order. The same on all nodes, so that all ranks find the
// same room left for a pool.
struct Needed {
  Needed(int ranks_, bool one_node, bool tells_sights)
      : ranks(ranks_),
        board(Board::memory_bytes(ranks)),
        ledger(Ledger::memory_bytes(ranks)),
        agreement(Agreement::memory_bytes(ranks)),
        mailboxes(one_node && ranks <= shm::MailboxTransport::kMostRanks ? shm::MailboxTransport::memory_bytes(ranks)
                                                                         : 0),
        words(one_node ? shm::SharedWords::memory_bytes(ranks) : 0),
        sights(one_node && tells_sights ? Sights::memory_bytes(ranks) : 0) {}

  std::size_t until_agreement() const { return board + ledger; }
  std::size_t until_mailboxes() const { return until_agreement() + agreement; }
  std::size_t until_words() const { return until_mailboxes() + mailboxes; }
  std::size_t until_sights() const { return (until_words() + words + kLine - 1) / kLine * kLine; }
  std::size_t bytes() const { return until_sights() + sights; }
  // Zeroed again.
  void clear(std::byte* memory) const {
    Board::clear(memory, ranks);
    std::memset(memory + board, 0, ledger + agreement);
    if (mailboxes > 0) shm::MailboxTransport::clear(memory + until_mailboxes(), ranks);
    std::memset(memory + until_words(), 0, words);
    if (sights > 0) Sights::clear(memory + until_sights(), ranks);
  }

  int ranks;
  std::size_t board;
  std::size_t ledger;
  std::size_t agreement;
  std::size_t mailboxes;
  std::size_t words;
  std::size_t sights;
};

}  // namespace

std::size_t NodeShare::largest_pool(std::size_t limit) { return std::bit_floor(std::min(limit, kLargestPool)); }

class NodeShare::Part {
 public:
  Part(shm::Arena& arena, std::uint32_t number) : arena_(arena), number_(number) {}
  ~Part() { arena_.let_go(number_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::byte* memory() const { return arena_.memory_of(number_); }

 private:
  shm::Arena& arena_;
  std::uint32_t number_;
};

std::int32_t NodeShare::offer(int ranks, World& world) {
  if (ranks > world.ranks_of_node()) return -1;
  shm::Arena& arena = world.memory().arena();
  const Needed needed(ranks, true, world.tells_sights(ranks));
  const auto part = arena.take(needed.bytes(), static_cast<std::uint32_t>(ranks));
  if (!part) return -1;
  needed.clear(arena.memory_of(*part));
  return static_cast<std::int32_t>(*part);
}

std::shared_ptr<NodeShare::Part> NodeShare::accept(std::int32_t offered, World& world) {
  if (offered < 0) return nullptr;
  return std::make_shared<Part>(world.memory().arena(), static_cast<std::uint32_t>(offered));
}

void NodeShare::take_back(std::int32_t offered, World& world) {
  if (offered >= 0) world.memory().arena().take_back(static_cast<std::uint32_t>(offered));
}

std::unique_ptr<NodeShare> NodeShare::make(Members members, World& world, std::shared_ptr<Part> part) {
  std::unique_ptr<NodeShare> share(new NodeShare(std::move(members), world));
  if (!share->make_board(std::move(part))) return nullptr;
  return share;
}

bool NodeShare::make_board(std::shared_ptr<Part> part) {
  const std::size_t bytes =
      Needed(members_.most_mates, is_one_node(), world_.tells_sights(members_.most_mates)).bytes();
  const std::size_t limit = world_.memory().limit();
  if (bytes > limit) {
    complain_once(members_.rank == 0, "STRETTO_SHM_MAX_MIB=" + std::to_string(limit >> 20) +
                                          " leaves no shared memory for " + std::to_string(members_.most_mates) +
                                          " ranks, which takes " + mebibytes(bytes) + "; set it higher");
    return false;
  }
  if (part != nullptr) {
    lay_out(part->memory());
    memory_ = std::move(part);
  } else {
    CountedSegment segment = share(bytes, "the arrival board");
    if (!segment) return false;
    lay_out(segment.memory());
    memory_ = std::make_shared<CountedSegment>(std::move(segment));
  }
  largest_pool_ = largest_pool(limit - bytes);
  return true;
}

void NodeShare::lay_out(std::byte* memory) {
  const Needed needed(members_.most_mates, is_one_node(), world_.tells_sights(members_.most_mates));
  const auto& mates = members_.mates;
  const auto place = std::ranges::find(mates, members_.rank) - mates.begin();
  Board::place_pages(memory, static_cast<int>(mates.size()));
  board_ = std::make_unique<Board>(memory, static_cast<int>(mates.size()), static_cast<int>(place));
  ledger_.emplace(memory + needed.board, mates, static_cast<std::size_t>(place));
  if (is_one_node()) agreement_.emplace(memory + needed.until_agreement(), members_.most_mates, members_.rank);
  if (needed.mailboxes > 0) mailboxes_ = memory + needed.until_mailboxes();
  if (is_one_node()) words_ = memory + needed.until_words();
  if (needed.sights > 0) sights_.emplace(memory + needed.until_sights(), members_.most_mates, members_.rank);
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

// Of all ranks of the communicator; nothing where not all come.
std::optional<int> NodeShare::find_least(int value) {
  if (watch_ == nullptr) {
    PMPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, members_.comm);
    return value;
  }
  const std::vector<int> all = gather(value);
  if (all.empty()) return std::nullopt;
  return std::ranges::min(all);
}

// The lowest rank of each node makes a segment, the others attach it. Agreed by all, as one refusal would break the
// rest.
CountedSegment NodeShare::share(std::size_t bytes, const char* purpose) {
  const int rank = members_.rank;
  const int lowest = members_.mates.front();
  std::string error;
  CountedSegment segment;
  if (rank == lowest) segment = world_.memory().create(bytes, error);
  const std::vector<shm::SegmentName> offers = gather(segment.name());
  if (offers.empty()) return {};
  const shm::SegmentName& offered = offers[static_cast<std::size_t>(lowest)];
  if (rank != lowest && offered.descriptor >= 0) segment = {nullptr, shm::Segment::attach(offered, bytes, error)};
  // The lowest rank without it, if any, speaks for them.
  const std::optional<int> first_without = find_least(segment ? members_.size : rank);
  if (!first_without) return {};
  if (*first_without < members_.size) {
    complain_once(rank == *first_without,
                  "no shared memory for " + std::string(purpose) + " (" + mebibytes(bytes) + "): " + error);
    return {};
  }
  segment.close_descriptor();
  return segment;
}

std::size_t NodeShare::pool_for(std::size_t bytes) const {
  return std::min(std::max(std::bit_ceil(2 * bytes), kSmallestPool), largest_pool_);
}

bool NodeShare::is_worth_pool(std::size_t bytes) {
  if (bytes < kLongPool || pool_bytes_ >= pool_for(bytes)) return true;
  return ++asked_for_pool_ > kAskedBefore;
}

bool NodeShare::ensure_pool(std::size_t bytes) {
  const std::size_t wanted = pool_for(bytes);
  if (largest_pool_ == 0) return false;
  if (pool_bytes_ < wanted && !grow_pool(wanted)) return false;
  pool_->use(board_->next_half_of_pool(), std::min(bytes, pool_->pool.window()));
  return true;
}

bool NodeShare::grow_pool(std::size_t wanted) {
  if (pool_ == nullptr) {
    // On several nodes others could have made the pool of one longer than those of the rest.
    pool_ = world_.memory().pool_of(members_.real_mates, is_one_node() && world_.calls_come_in_order());
    board_->attach_pool(std::shared_ptr<Pool>(pool_, &pool_->pool), memory_);
  }
  // Nobody gets through these agreements before everybody is here, and has left every earlier call of the communicators
  // that share the pool: so nobody uses the old one any more.
  const std::optional<int> all_have = find_least(pool_->pool.bytes >= wanted ? 1 : 0);
  if (!all_have) return false;
  if (*all_have != 0) {
    pool_bytes_ = wanted;
    return true;
  }
  CountedSegment segment;
  if (wanted >= 2 * Board::kMinChunkBytes) segment = share(wanted, "long messages");
  if (segment) {
    pool_->move_to(std::move(segment));
    pool_bytes_ = wanted;
  } else {
    largest_pool_ = pool_bytes_;
  }
  return pool_bytes_ > 0;
}

}  // namespace stretto::mpi
