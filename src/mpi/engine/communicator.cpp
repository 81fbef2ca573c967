#include "mpi/engine/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "mpi/engine/background.hpp"
#include "mpi/engine/machine.hpp"
#include "mpi/places/discovery.hpp"
#include "transport/shm/mailboxes.hpp"
#include "transport/shm/shared_words.hpp"

namespace stretto::mpi {
namespace {

#ifdef OPEN_MPI
constexpr const Handicaps& kHandicaps = kBesideOpenMpi;
#else
constexpr const Handicaps& kHandicaps = kBesideOthers;
#endif

SharedNodes find_shared(const std::vector<int>& nodes) {
  const int count = count_nodes(nodes);
  int runs = 0;  // of ranks that follow one another and share a node
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (rank == 0 || nodes[rank] != nodes[rank - 1]) ++runs;
  }
  if (count == 1 || count == static_cast<int>(nodes.size())) return {};
  return {count, runs > count};
}

Placement find_placement(const std::vector<int>& nodes) {
  const auto count = static_cast<std::size_t>(count_nodes(nodes));
  if (!find_shared(nodes).scattered) return Placement::side_by_side;
  for (std::size_t rank = count; rank < nodes.size(); ++rank) {
    if (nodes[rank] != nodes[rank % count]) return Placement::other;
  }
  return Placement::in_turn;
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

}  // namespace

std::unique_ptr<Engine> Engine::make(MPI_Comm comm, World& world, const Configuration& configuration,
                                     const OpenOperations& open) {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  std::int32_t part = rank == 0 ? NodeShare::offer(size, world) : -1;
  std::unique_ptr<Channel> channel = Channel::open(comm, world.carrier(), Anticipation::kRuns, &part);
  if (channel == nullptr) {
    if (rank == 0) NodeShare::take_back(part, world);
    return nullptr;
  }
  return std::unique_ptr<Engine>(new Engine(comm, world, std::move(channel), part, configuration, open));
}

Engine::Engine(MPI_Comm comm, World& world, std::unique_ptr<Channel> channel, std::int32_t offered_part,
               const Configuration& configuration, const OpenOperations& open)
    : comm_(comm),
      world_(world),
      channel_(std::move(channel)),
      rank_(channel_->rank()),
      size_(channel_->size()),
      open_(open),
      deterministic_(configuration.deterministic),
      ahead_allowed_(configuration.background != Background::off) {
  single_copy_ = configuration.single_copy;
  nodes_ = world_.nodes_of(*channel_);
  shared_nodes_ = find_shared(nodes_);
  const std::size_t limit = can_share_memory() ? world_.memory().limit() : 0;
  shared_nodes_.boards = can_share_memory() && shared_nodes_.count > 0;  // until one is refused
  shares_memory_ = limit > 0 && count_nodes(nodes_) == 1;
  expected_pool_window_ = NodeShare::largest_pool(limit) / 2;
  if (count_nodes(nodes_) == 1) {
    part_ = NodeShare::accept(offered_part, world_);
  } else if (rank_ == 0) {
    NodeShare::take_back(offered_part, world_);
  }
  if (configuration.rules != nullptr) {
    rules_ = std::make_unique<const RuleTable>(configuration.rules->table_of(size_, count_nodes(nodes_)));
  }
  // Ranks of one node that have no memory in common send messages, too.
  if (!shares_memory_) make_forecast();
}

void Engine::make_forecast() {
  const int nodes = count_nodes(nodes_);
  const bool uneven = most_on_a_node(nodes_) * nodes != size_;
  const NodeLayout layout{size_, nodes, find_placement(nodes_), shared_nodes_.boards, uneven};
  forecast_ = std::make_unique<Forecast>(world_.machine(), layout, kHandicaps, deterministic_);
}

Engine::~Engine() {
  if (anticipation_) background_->remove(*anticipation_);
  close();
}

void Engine::close() {
  if (is_revoked()) return;
  if (anticipation_) anticipation_->close();
  if (experience_) experience_->close();
  words_.reset();
}

bool Engine::share_memory() {
  NodeShare::Members members{comm_, rank_, size_, {}, most_on_a_node(nodes_)};
  for (int rank = 0; rank < size_; ++rank) {
    if (nodes_[static_cast<std::size_t>(rank)] != nodes_[static_cast<std::size_t>(rank_)]) continue;
    members.mates.push_back(rank);
    members.real_mates.push_back(channel_->real(rank));
  }
  if (single_copy_) processes_ = world_.readable(*channel_, members.mates);
  share_ = NodeShare::make(std::move(members), world_, std::move(part_));
  if (share_ == nullptr) processes_.clear();
  return share_ != nullptr;
}

std::unique_ptr<Transport> Engine::make_transport(Platform& platform) {
  if (shares_memory_ && platform.can_read_peers() && share_->mailboxes() != nullptr) {
    return std::make_unique<shm::MailboxTransport>(share_->mailboxes(), size_, rank_, platform);
  }
  return make_message_transport(*channel_);
}

void Engine::make_equipment() {
  took_set_up_ = true;
  if (can_share_memory() && count_nodes(nodes_) == 1) shares_memory_ = share_memory();
  if (share_ == nullptr && !shared_nodes_.boards) expected_pool_window_ = 0;
  auto platform = make_platform({&processes_, world_.oversubscribed(), &poke_mpi, &world_, &open_.count(),
                                 world_.doorbell(), world_.strangers()});
  auto transport = make_transport(*platform);
  equipment_ = std::make_unique<Equipment>(*channel_, nodes_, std::move(platform), std::move(transport),
                                           world_.topology_of(*channel_, nodes_), world_.costs_of(nodes_));
  use_board();
  if (watch_ == nullptr && world_.failures().can_be_known()) watch_calls();
}

void Engine::use_board() {
  if (share_ == nullptr) return;
  Endpoint& endpoint = equipment_->endpoint();
  endpoint.board = &share_->board();
  watch_calls();
  share_->wait_by(endpoint.platform, *watch_);
}

void Engine::watch_calls() {
  Endpoint& endpoint = equipment_->endpoint();
  Ledger* ledger = share_ == nullptr ? nullptr : &share_->ledger();
  watch_ = std::make_unique<CallWatch>(ledger, endpoint.platform, world_.failures(), *channel_);
  endpoint.executor.watched_by(watch_.get());
}

void Engine::provide_for(const Choice& choice) {
  if (!is_provided()) make_equipment();
  if (choice.kind != Choice::Kind::forced) return;
  if (choice.algorithm->uses_node_memory()) ensure_boards();
  if (choice.algorithm->needs.words) ensure_words();
}

void Engine::ensure_boards() {
  if (share_ != nullptr || !shared_nodes_.boards) return;
  took_set_up_ = true;
  shared_nodes_.boards = share_memory();
  if (!shared_nodes_.boards) make_forecast();
  use_board();
}

bool Engine::ensure_pool(std::size_t bytes) {
  if (share_ == nullptr) return false;
  const std::size_t before = share_->pool_bytes();
  const bool there = share_->ensure_pool(bytes);
  if (share_->pool_bytes() != before) took_set_up_ = true;
  if (watch_->is_over()) equipment_->endpoint().executor.stop();
  return there;
}

void Engine::enter(const CallEntry& call, bool unsure) {
  if (share_ == nullptr) return;
  const std::uint16_t signature = share_->ledger().enter(call, unsure);
  share_->board().expect(signature);
  Endpoint& endpoint = equipment_->endpoint();
  endpoint.transport.expect(signature);
  endpoint.truncated = false;
}

Fault Engine::find_fault() {
  if (!equipment_->endpoint().executor.stopped() && !is_revoked()) return {Fault::Kind::truncated};
  given_up_ = true;
  return watch_ != nullptr ? watch_->find_fault() : Fault{Fault::Kind::revoked};
}

void Engine::ensure_words() {
  if (words_ != nullptr || words_refused_) return;
  took_set_up_ = true;
  if (shares_memory_) {
    words_ = std::make_unique<shm::SharedWords>(share_->words());
  } else {
    words_ = make_remote_words(comm_, *channel_, world_.words());
  }
  equipment_->endpoint().words = words_.get();
  words_refused_ = words_ == nullptr;
  static std::atomic<bool> told{false};
  if (!words_refused_ || rank_ != 0 || told.exchange(true)) return;
  std::fprintf(stderr,
               "stretto: no one-sided atomics between these ranks: they are there where STRETTO_REMOTE_WORDS=1, or an "
               "algorithm that is set, asks for them in MPI_Init and the MPI library has some that work (Open MPI: try "
               "--mca osc pt2pt). rendezvous_tree gives way to others.\n");
}

void Engine::look_inside(const Algorithm& algorithm, const Configuration& configuration, bool asked) {
  if (!looks_inside_nodes(algorithm, shared_nodes_.count == 0)) return;
  looked_inside_ = took_set_up_ = true;
  equipment_->know(discover_insides(comm_, equipment_->topology(), nodes_, configuration, asked));
}

void Engine::anticipate(Collective collective, Hints& hints, Anticipated& tally, BackgroundWork& background) {
  anticipated_ |= 1U << static_cast<unsigned>(collective);
  if (anticipation_) return;
  took_set_up_ = true;
  anticipation_ =
      std::make_unique<Anticipation>(comm_, *channel_, equipment_->endpoint(), hints, tally, may_begin_ahead());
  background_ = &background;
  background.add(*anticipation_);
}

void Engine::begin_experience(Lessons& lessons) {
  took_set_up_ = true;
  const int nodes = count_nodes(nodes_);
  Experience::Means means{
      .comm = comm_, .ranks = size_, .nodes = nodes, .one_clock = nodes == 1, .meetings = meetings_};
  if (shares_memory_) {
    means.sights = share_->sights();
    means.board = &share_->board();
  }
  notes_meetings_ = !means.one_clock;
  if (notes_meetings_) meetings_.left_ns = monotonic_ns();
  experience_ = std::make_unique<Experience>(means, lessons);
}

// In the order of arrival of all ranks, where the call has found it.
int Engine::place_of(const Algorithm& algorithm) const {
  return shares_memory() && algorithm.needs.memory != Memory::none ? share_->board().place() : Board::kNoPlace;
}

int Engine::run(const Algorithm& algorithm, const Call& call) {
  const int place = run_to_its_end(algorithm, call);
  meet(algorithm.collective, call.bytes());
  return place;
}

int Engine::run_to_its_end(const Algorithm& algorithm, const Call& call) {
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
    Group group(equipment_->endpoint());
    run_to_end(group, algorithm, call);
  }
  return place_of(algorithm);
}

}  // namespace stretto::mpi
