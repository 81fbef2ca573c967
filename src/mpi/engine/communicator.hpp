// What Stretto keeps for each communicator of the program, as an attribute that dies with it.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "core/clock.hpp"
#include "core/remote_words.hpp"
#include "mpi/engine/anticipation.hpp"
#include "mpi/engine/call_watch.hpp"
#include "mpi/engine/equipment.hpp"
#include "mpi/engine/experience.hpp"
#include "mpi/engine/in_flight.hpp"
#include "mpi/engine/latest_choices.hpp"
#include "mpi/engine/node_share.hpp"
#include "mpi/engine/open_operations.hpp"
#include "mpi/engine/world.hpp"
#include "select/forecast.hpp"
#include "select/rules.hpp"
#include "select/tuned_rules.hpp"

namespace stretto::mpi {

class BackgroundWork;

/// The engine's side of a communicator: a channel for its messages, and shared memory where all ranks are on one node,
/// or where asked for on each of several. What its ranks agree on is agreed upon by the MPI library's collectives on
/// the program's communicator itself, while the program is in one: nobody else can be in one there.
///
/// At first it only knows its members, which tells what would serve a call; what serves it is made by `provide_for`.
class Engine {
 public:
  /// Collective over `comm`. nullptr, on all ranks alike, where there are no tags left for its messages.
  static std::unique_ptr<Engine> make(MPI_Comm comm, World& world, const Configuration& configuration,
                                      const OpenOperations& open);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  LatestChoices& latest_choices() { return latest_choices_; }

  /// See NodeShare.
  bool ensure_pool(std::size_t bytes);
  /// See NodeShare::is_worth_pool.
  bool is_worth_pool(std::size_t bytes) { return share_ == nullptr || share_->is_worth_pool(bytes); }
  /// The program has come to a call that uses no pool. Now and then an idle one is given back.
  void pass_without_pool(Collective collective, std::size_t bytes) {
    if (++calls_without_pool_ % kCallsBetweenLooks == 0 && share_ != nullptr && meets_all(collective, bytes))
      share_->give_back_idle_pool();
  }

  /// The program has come to its next call, which is to be served or left to the MPI library. Not before provide_for.
  void enter(const CallEntry& call, bool unsure);
  /// What was unsure: whether it has been a call at all.
  void decide(bool was_call) {
    if (share_ == nullptr) return;
    was_call ? share_->ledger().confirm() : share_->ledger().withdraw();
  }
  /// Whether the present call went well; else what is wrong with it, seen from this rank.
  bool is_faultless() const {
    const Endpoint& endpoint = equipment_->endpoint();
    return !endpoint.executor.stopped() && !endpoint.truncated && !endpoint.transport.truncated();
  }
  Fault find_fault();
  /// No call can be made any more: ranks were in different ones, or one has failed.
  bool is_revoked() const { return given_up_ || (share_ != nullptr && share_->ledger().is_revoked()); }

  /// Whether anything has been made, for this and later calls, since this was last asked.
  bool took_set_up() { return std::exchange(took_set_up_, false); }

  /// Runs the collective to its end, or to a fault. Returns this rank's place in the order of arrival, from 0, or
  /// Board::kNoPlace if the algorithm took none.
  int run(const Algorithm& algorithm, const Call& call);
  /// The same of a call for which Algorithm::shortly is there, and a slot is long enough.
  void run_short(const Algorithm& algorithm, const Call& call) {
    if (anticipation_ != nullptr) [[unlikely]] {
      run(algorithm, call);
      return;
    }
    Group group(equipment_->endpoint());
    run_on_board(group, algorithm, call);
    meet(algorithm.collective, call.bytes());
  }
  /// Such a call has ended here.
  void meet(Collective collective, std::size_t bytes) {
    if (!meets_all(collective, bytes)) return;
    ++meetings_.count;
    if (notes_meetings_) meetings_.left_ns = monotonic_ns();
  }

  /// Whether calls may begin ahead of the program; the same on all ranks, and for the communicator's whole life.
  bool may_begin_ahead() const {
    return ahead_allowed_ && (!is_provided() || equipment_->endpoint().transport.can_abandon());
  }
  /// From now on calls of `collective` are anticipated; `background` drives what begins ahead. Collective.
  void anticipate(Collective collective, Hints& hints, Anticipated& tally, BackgroundWork& background);
  bool anticipates(Collective collective) const { return (anticipated_ >> static_cast<unsigned>(collective) & 1) != 0; }
  /// What calls of this kind have taken. Collective, the first time.
  Experience::Front& experience_of(Collective collective, std::size_t bytes, Adaptation::Mode mode, Lessons& lessons) {
    if (!experience_) begin_experience(lessons);
    return experience_->of(collective, bytes, mode, latest_choices_.front(collective), forecast_.get());
  }
  /// Whether each rank can read the memory of all others of its node; known from provide_for on. The same on all.
  bool reads_peers() const { return !processes_.empty(); }
  /// All ranks of one node; as far as is known before provide_for.
  bool shares_memory() const { return shares_memory_; }
  /// Sets up what calls need, and what decides whether the algorithm that the user wants can serve any: boards of
  /// nodes, remote words. Collective.
  void provide_for(const Choice& choice);
  bool is_provided() const { return equipment_ != nullptr; }
  /// Finds out what ranks are bound to, if that is not known yet and the algorithm goes by it. `asked`: the user has
  /// named it. Collective.
  void ensure_insides(const Algorithm& algorithm, const Configuration& configuration, bool asked) {
    if (!looked_inside_ && algorithm.needs.memory == Memory::none) look_inside(algorithm, configuration, asked);
  }
  SharedNodes shared_nodes() const { return shared_nodes_; }
  bool has_words() const { return words_ != nullptr; }
  /// Of what algorithms take by messages; nullptr where all ranks share memory.
  Forecast* forecast() const { return forecast_.get(); }
  /// What was measured of such ranks; nullptr where there is no rules file.
  const RuleTable* rules() const { return rules_.get(); }
  /// Half of the largest pool that ensure_pool may make.
  std::size_t max_pool_window() const { return share_ != nullptr ? share_->max_pool_window() : expected_pool_window_; }
  std::int64_t recent_skew_ns() const { return shares_memory_ && share_ ? share_->board().recent_skew_ns() : 0; }
  /// The communicator is being freed, or MPI_Finalize has begun: nothing is under way any more. Collective.
  void close();
  /// Alike on all ranks, and of no two communicators of a process the same.
  std::pair<int, int> key() const { return {channel_->real(0), channel_->tag_of(0, 0)}; }

 private:
  static constexpr std::uint32_t kCallsBetweenLooks = 1024;
  Engine(MPI_Comm comm, World& world, std::unique_ptr<Channel> channel, std::int32_t offered_part,
         const Configuration& configuration, const OpenOperations& open);
  int place_of(const Algorithm& algorithm) const;
  int run_to_its_end(const Algorithm& algorithm, const Call& call);
  /// Gives each of several nodes a board, for hierarchies in their memory. Where some node refuses no node has one, and
  /// `shared_nodes` knows.
  void ensure_boards();
  void make_forecast();
  /// Gives all ranks words that the others can change, where the MPI library can.
  void ensure_words();
  bool share_memory();
  void make_equipment();
  void use_board();
  void watch_calls();
  void look_inside(const Algorithm& algorithm, const Configuration& configuration, bool asked);
  void begin_experience(Lessons& lessons);
  std::unique_ptr<Transport> make_transport(Platform& platform);

  MPI_Comm comm_;  // the program's
  World& world_;
  std::unique_ptr<Channel> channel_;
  int rank_;
  int size_;
  const OpenOperations& open_;
  std::size_t expected_pool_window_ = 0;
  std::uint32_t calls_without_pool_ = 0;
  Experience::Meetings meetings_;
  bool notes_meetings_ = false;  // when each ends
  bool deterministic_;
  bool ahead_allowed_ = false;
  bool took_set_up_ = true;
  bool looked_inside_ = false;  // nodes
  SharedNodes shared_nodes_;
  std::unique_ptr<Forecast> forecast_;
  std::unique_ptr<const RuleTable> rules_;
  bool shares_memory_ = false;
  unsigned anticipated_ = 0;               // a bit a collective
  std::vector<int> nodes_;                 // of each rank the lowest on its node
  bool single_copy_ = false;               // unless the user does not want it
  std::vector<pid_t> processes_;           // of the ranks of this node; empty without a board or single copy
  std::shared_ptr<NodeShare::Part> part_;  // for the share, until that is made
  std::unique_ptr<NodeShare> share_;
  std::unique_ptr<Equipment> equipment_;  // messages by mailboxes where the ranks can read each other's memory
  std::unique_ptr<CallWatch> watch_;      // where there is a share, or failures can be known
  bool given_up_ = false;                 // after a fault; others may not know of it yet
  std::unique_ptr<RemoteWords> words_;
  bool words_refused_ = false;
  LatestChoices latest_choices_;
  std::unique_ptr<Experience> experience_;
  BackgroundWork* background_ = nullptr;
  std::unique_ptr<Anticipation> anticipation_;  // last: it uses all of the above
};

struct Communicator {
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr int kFirstCalls = 16;

  /// Counts a call: one of the first of a communicator that may be gone soon. The MPI library serves these, as an
  /// engine would not be worth its making. The same on all ranks.
  bool is_young() { return young_calls > 0 && young_calls-- > 0; }

  bool eligible = false;  // an intracommunicator of at least two ranks, all of this world, with tags for its messages
  int rank = 0;
  int size = 0;
  int young_calls = kFirstCalls;
  std::uint64_t checked = 0;            // calls, under STRETTO_CHECK
  std::unique_ptr<Engine> engine;       // made when first needed, by all ranks in one call
  std::unique_ptr<InFlight> in_flight;  // made with the communicator, where the user wants it

  // For the profile:
  MPI_Comm comm = MPI_COMM_NULL;
  std::uint32_t index = kUnknown;  // of the fact that tells of it
  std::uint32_t sequence = 0;      // calls so far
  std::uint32_t persistent = 0;    // persistent collectives made so far
  int peers = 0;                   // how many counts an all-to-all takes: the remote group's where there is one
  int out_neighbours = 0;          // the same of neighbourhood collectives
};

}  // namespace stretto::mpi
