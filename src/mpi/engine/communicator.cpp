#include "mpi/engine/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>

#include "mpi/engine/background.hpp"
#include "mpi/engine/machine.hpp"
#include "mpi/places/discovery.hpp"
#include "transport/shm/single_copy.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t kSmallestPool = std::size_t{4} << 20;

bool all_agree(MPI_Comm comm, bool mine) {
  int value = mine ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, comm);
  return value == 1;
}

SharedNodes find_shared(const std::vector<int>& nodes) {
  const int count = count_nodes(nodes);
  int runs = 0;  // of ranks that follow one another and share a node
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (rank == 0 || nodes[rank] != nodes[rank - 1]) ++runs;
  }
  if (count == 1 || count == static_cast<int>(nodes.size())) return {};
  return {count, runs > count};
}

int most_on_a_node(const std::vector<int>& nodes) {
  std::vector<int> ranks(nodes.size());
  for (int node : nodes) ++ranks[static_cast<std::size_t>(node)];
  return *std::max_element(ranks.begin(), ranks.end());
}

// Waiting ranks drive MPI's progress by looking for a message; it would stay where it is.
void poke_mpi(void* world) {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<World*>(world)->comm(), &found, MPI_STATUS_IGNORE);
}

// Says once a process, and from one of the ranks only, why there is no shared memory.
void complain_once(bool speaker, const std::string& message) {
  static std::atomic<bool> told{false};
  if (told.exchange(true) || !speaker) return;
  std::fprintf(stderr, "stretto: %s. Algorithms that need shared memory give way to others.\n", message.c_str());
}

}  // namespace

std::unique_ptr<Engine> Engine::make(MPI_Comm comm, World& world, const Configuration& configuration,
                                     const OpenOperations& open) {
  std::unique_ptr<Channel> channel = Channel::open(comm, world.carrier(), Anticipation::kRuns);
  if (channel == nullptr) return nullptr;
  return std::unique_ptr<Engine>(new Engine(comm, world, std::move(channel), configuration, open));
}

Engine::Engine(MPI_Comm comm, World& world, std::unique_ptr<Channel> channel, const Configuration& configuration,
               const OpenOperations& open)
    : comm_(comm),
      world_(world),
      channel_(std::move(channel)),
      rank_(channel_->rank()),
      size_(channel_->size()),
      pool_limit_(configuration.shared_memory_bytes),
      ahead_allowed_(configuration.background != Background::off) {
  single_copy_ = configuration.single_copy;
  nodes_ = world_.nodes_of(*channel_);
  shared_nodes_ = find_shared(nodes_);
  for (int rank = 0; rank < size_; ++rank) {
    if (nodes_[static_cast<std::size_t>(rank)] == nodes_[static_cast<std::size_t>(rank_)]) mates_.push_back(rank);
  }
  shared_nodes_.boards = can_share_memory() && shared_nodes_.count > 0;  // until one is refused
  if (can_share_memory() && count_nodes(nodes_) == 1) share_board();
  platform_ = make_platform({&processes_, world_.oversubscribed(), &poke_mpi, &world_, &open.count()});
  choose_transport();
  maps_ = std::make_unique<RankMaps>(world_.topology_of(*channel_, nodes_));
  endpoint_ = std::make_unique<Endpoint>(rank_, size_, *platform_, *transport_);
  endpoint_->board = board_.get();
  endpoint_->nodes = nodes_;
  endpoint_->maps = maps_.get();
}

Engine::~Engine() {
  if (anticipation_) background_->remove(*anticipation_);
  close();
}

void Engine::close() {
  if (anticipation_) anticipation_->close();
  words_.reset();
}

void Engine::choose_transport() {
  if (shares_memory() && platform_->can_read_peers() && size_ <= shm::MailboxTransport::kMostRanks) {
    std::byte* memory = board_segment_.memory() + Board::memory_bytes(size_);
    transport_ = std::make_unique<shm::MailboxTransport>(memory, size_, rank_, *platform_);
  } else {
    transport_ = make_message_transport(*channel_);
  }
}

bool Engine::share_board() {
  // The same on all nodes, so that all ranks find the same room left for a pool.
  const int ranks = most_on_a_node(nodes_);
  const bool mailboxes = ranks == size_ && size_ <= shm::MailboxTransport::kMostRanks;
  const std::size_t bytes = Board::memory_bytes(ranks) + (mailboxes ? shm::MailboxTransport::memory_bytes(size_) : 0) +
                            (ranks == size_ ? shm::SharedWords::memory_bytes(size_) : 0);
  if (bytes > pool_limit_) {
    complain_once(rank_ == 0, "STRETTO_SHM_MAX_MIB=" + std::to_string(pool_limit_ >> 20) +
                                  " leaves no shared memory for " + std::to_string(ranks) + " ranks, which takes " +
                                  std::to_string((bytes >> 20) + 1) + " MiB; set it higher");
    return false;
  }
  std::optional<shm::Segment> segment = share_segment(bytes, "the arrival board");
  if (!segment) return false;
  pool_limit_ -= bytes;
  board_segment_ = std::move(*segment);
  const auto mine = std::find(mates_.begin(), mates_.end(), rank_) - mates_.begin();
  board_ = std::make_unique<Board>(board_segment_.memory(), static_cast<int>(mates_.size()), static_cast<int>(mine));
  if (single_copy_) processes_ = share_processes();
  return true;
}

void Engine::provide_for(const Choice& choice) {
  if (choice.kind != Choice::Kind::forced) return;
  if (choice.algorithm->uses_node_memory()) ensure_boards();
  if (choice.algorithm->needs.words) ensure_words();
}

void Engine::ensure_boards() {
  if (board_ != nullptr || !shared_nodes_.boards) return;
  shared_nodes_.boards = share_board();
  endpoint_->board = board_.get();
}

void Engine::ensure_words() {
  if (words_ != nullptr || words_refused_) return;
  if (shares_memory()) {
    words_ = std::make_unique<shm::SharedWords>(board_segment_.memory() + board_segment_.bytes() -
                                                shm::SharedWords::memory_bytes(size_));
  } else {
    words_ = make_remote_words(comm_, *channel_, world_.words());
  }
  endpoint_->words = words_.get();
  words_refused_ = words_ == nullptr;
  static std::atomic<bool> told{false};
  if (!words_refused_ || rank_ != 0 || told.exchange(true)) return;
  std::fprintf(stderr,
               "stretto: no one-sided atomics between these ranks: they are there where STRETTO_REMOTE_WORDS=1, or an "
               "algorithm that is set, asks for them in MPI_Init and the MPI library has some that work (Open MPI: try "
               "--mca osc pt2pt). rendezvous_tree gives way to others.\n");
}

void Engine::ensure_insides(const Algorithm& algorithm, const Configuration& configuration, bool asked) {
  if (looked_inside_ || !looks_inside_nodes(algorithm, shared_nodes_.count == 0)) return;
  looked_inside_ = true;
  maps_ = std::make_unique<RankMaps>(discover_insides(comm_, maps_->topology(), nodes_, configuration, asked));
  endpoint_->maps = maps_.get();
}

std::optional<shm::Segment> Engine::share_segment(std::size_t bytes, const char* purpose) {
  struct Offer {
    pid_t creator;
    int descriptor;
  };
  Offer mine{getpid(), -1};
  std::string error;
  shm::Segment segment;
  if (rank_ == mates_.front()) {
    segment = shm::Segment::create(bytes, error);
    mine.descriptor = segment.descriptor();
  }
  std::vector<Offer> offers(static_cast<std::size_t>(size_));
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, offers.data(), sizeof mine, MPI_BYTE, comm_);
  const Offer& offer = offers[static_cast<std::size_t>(mates_.front())];
  if (rank_ != mates_.front() && offer.descriptor >= 0) {
    segment = shm::Segment::attach(offer.creator, offer.descriptor, bytes, error);
  }
  // Agreed by all: the lowest rank without it, if any, speaks for them.
  int first_without = segment ? size_ : rank_;
  PMPI_Allreduce(MPI_IN_PLACE, &first_without, 1, MPI_INT, MPI_MIN, comm_);
  if (first_without < size_) {
    complain_once(rank_ == first_without, "no shared memory for " + std::string(purpose) + " (" +
                                              std::to_string((bytes >> 20) + 1) + " MiB): " + error +
                                              "; free memory or set STRETTO_SHM_MAX_MIB lower");
    return std::nullopt;
  }
  segment.close_descriptor();
  return segment;
}

// Probes single copy: everybody reads a number of the next rank on the node. Agreed by all, as one refusal would break
// the rest.
std::vector<pid_t> Engine::share_processes() {
  struct Card {
    pid_t process;
    std::uint64_t address;
    std::uint64_t secret;
  };
  std::uint64_t secret = static_cast<std::uint64_t>(getpid()) * 0x9E3779B97F4A7C15U;
  const Card mine{getpid(), reinterpret_cast<std::uint64_t>(&secret), secret};
  std::vector<Card> cards(static_cast<std::size_t>(size_));
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm_);
  const auto after = std::upper_bound(mates_.begin(), mates_.end(), rank_);
  const Card& next = cards[static_cast<std::size_t>(after == mates_.end() ? mates_.front() : *after)];
  std::uint64_t seen = 0;
  const bool read = shm::read_process(next.process, &seen, next.address, sizeof seen) && seen == next.secret;
  std::vector<pid_t> processes;
  if (!all_agree(comm_, read)) return processes;
  for (int mate : mates_) processes.push_back(cards[static_cast<std::size_t>(mate)].process);
  return processes;
}

bool Engine::ensure_pool(std::size_t bytes) {
  const std::size_t wanted = std::min(std::max(std::bit_ceil(2 * bytes), kSmallestPool), largest_pool());
  if (pool_refused_ || board_ == nullptr) return false;
  if (pool_segment_.bytes() >= wanted) return true;
  // Nobody gets through the agreement in share_segment before everybody is here and has left every earlier call, so
  // nobody uses the old pool any more.
  std::optional<shm::Segment> segment;
  if (wanted >= 2 * Board::kMinChunkBytes) segment = share_segment(wanted, "long messages");
  if (segment) {
    pool_segment_ = std::move(*segment);
    board_->attach_pool(pool_segment_.memory(), pool_segment_.bytes());
    return true;
  }
  pool_refused_ = pool_segment_.bytes() == 0;
  if (!pool_refused_) pool_limit_ = pool_segment_.bytes();
  return !pool_refused_;
}

void Engine::anticipate(Collective collective, Hints& hints, Anticipated& tally, BackgroundWork& background) {
  anticipated_ |= 1U << static_cast<unsigned>(collective);
  if (anticipation_) return;
  anticipation_ = std::make_unique<Anticipation>(comm_, *channel_, *endpoint_, hints, tally, may_begin_ahead());
  background_ = &background;
  background.add(*anticipation_);
}

// In the order of arrival of all ranks, where the call has found it.
int Engine::place_of(const Algorithm& algorithm) const {
  return shares_memory() && algorithm.needs.memory != Memory::none ? board_->place() : Board::kNoPlace;
}

int Engine::run(const Algorithm& algorithm, const Call& call) {
  if (anticipates(algorithm.collective)) {
    const bool lengths = algorithm.collective == Collective::scatterv || algorithm.collective == Collective::gatherv;
    anticipation_->run({static_cast<int>(algorithm.collective), call.root, lengths ? 0 : call.bytes()}, algorithm,
                       call);
    if (anticipation_->has_work()) background_->wake();
    return place_of(algorithm);
  }
  if (anticipation_) {
    anticipation_->run_beside(algorithm, call);
  } else {
    Group group(*endpoint_);
    Task task = run_algorithm(group, algorithm, call);
    endpoint_->executor.drive(task, *transport_);
  }
  return place_of(algorithm);
}

}  // namespace stretto::mpi
