// The process' one Stretto: configuration, the communicators' state, what ran.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mpi/engine/background.hpp"
#include "mpi/engine/communicator.hpp"
#include "mpi/engine/open_operations.hpp"
#include "mpi/engine/persistent_calls.hpp"
#include "mpi/engine/proxy_requests.hpp"
#include "mpi/engine/served.hpp"
#include "mpi/engine/world.hpp"
#include "mpi/profile/profiler.hpp"
#include "mpi/profile/requests.hpp"
#include "select/configuration.hpp"

namespace stretto::mpi {

class Runtime {
 public:
  static Runtime& get();

  /// Before the MPI library starts: reads the environment and checks that this library fits. Ends the process with exit
  /// code 2 if anything is wrong.
  void check_environment();
  /// After MPI_Init: checks that all ranks are configured alike.
  void start();
  /// Before MPI_Finalize.
  void finish();

  bool active() const { return active_; }
  Configuration& configuration() { return configuration_; }
  Profiler& profiler() { return profiler_; }
  Requests& requests() { return requests_; }
  Hints& hints() { return hints_; }
  BackgroundWork& background() { return background_; }
  PersistentCalls& persistent_calls() { return persistent_calls_; }
  OpenOperations& open_operations() { return open_operations_; }

  /// Whether the program's MPI_THREAD_ level is to be raised, so that the thread of the background may call MPI.
  bool wants_thread() const {
    return configuration_.background == Background::thread ||
           (configuration_.non_blocking && configuration_.background == Background::automatic);
  }
  /// From this thread.
  bool may_call_mpi() const { return any_thread_may_ || std::this_thread::get_id() == main_thread_; }
  void anticipate(Engine& engine, Collective collective) {
    engine.anticipate(collective, hints_, anticipated_, background_);
  }

  /// Of calls that may be chosen by it: see Configuration::adapt.
  Experience::Front& experience_of(Engine& engine, Collective collective, std::size_t bytes, Adaptation::Mode mode) {
    return engine.experience_of(collective, bytes, mode, lessons_);
  }

  /// The state of `comm`, made at its first call or, where there is a profile, when the communicator is made; nullptr
  /// before MPI_Init and after MPI_Finalize. `blocking`: all its ranks are here, or will be.
  Communicator* communicator(MPI_Comm comm, bool blocking = true);
  /// A communicator has just been made by a call that all its ranks are in.
  void introduce(MPI_Comm comm);
  /// All ranks of `comm` are about to free it.
  void close(MPI_Comm comm);
  /// Whether all ranks of this world are on one.
  bool one_node() const { return world_.one_node(); }
  /// From now on this process may have communicators with processes of other worlds.
  void meet_others() { world_.meet_others(); }
  /// Whether non-blocking calls of Stretto's are under way in this process.
  bool any_in_flight() const { return in_flight_.load(std::memory_order_relaxed) > 0; }
  /// Its engine, made when first needed: a collective operation. nullptr, on all ranks alike, where it cannot be.
  Engine* engine(Communicator& communicator, MPI_Comm comm) {
    return communicator.engine ? communicator.engine.get() : make_engine(communicator, comm);
  }

  /// While it stays what a thread remembers of communicators is so.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  /// See Stretto_measure_machine. Collective.
  int measure_machine(const char* file);

  /// A communicator of this process alone that the program knows nothing of; MPI_COMM_NULL without MPI_Init.
  MPI_Comm self() const { return self_; }
  /// Whether the MPI library lets `datatype` travel; it does not before MPI_Type_commit.
  bool is_committed(MPI_Datatype datatype) const;

  /// Notes that `algorithm` (nullptr: native) served a call.
  void count(Collective collective, const Algorithm* algorithm, Form form = Form::blocking) {
    served_[static_cast<std::size_t>(form)][static_cast<std::size_t>(collective)].count(algorithm, !any_thread_may_);
  }
  /// "" before the first call.
  const char* last_algorithm(Collective collective, Form form) const {
    return served_[static_cast<std::size_t>(form)][static_cast<std::size_t>(collective)].last();
  }

 private:
  static int forget(MPI_Comm comm, int keyval, void* state, void* extra);
  Communicator* make_communicator(MPI_Comm comm, bool blocking);
  Engine* make_engine(Communicator& communicator, MPI_Comm comm);
  bool within_world(MPI_Comm comm) const;
  static void describe_peers(Communicator& communicator, MPI_Comm comm, bool inter);
  void prepare_background();
  void leave_non_blocking();
  void prepare_in_flight(Communicator& communicator, MPI_Comm comm);
  void close_engines();
  void let_go(std::unique_ptr<InFlight> in_flight);
  void report() const;

  Configuration configuration_;
  Profiler profiler_;
  Requests requests_{profiler_};
  Hints hints_;
  Anticipated anticipated_;
  Lessons lessons_;
  BackgroundWork background_;
  std::thread::id main_thread_;
  bool any_thread_may_ = false;
  bool active_ = false;
  int keyval_ = MPI_KEYVAL_INVALID;
  MPI_Comm self_ = MPI_COMM_NULL;  // of our own, returning errors; null without MPI_Init
  World world_;
  OpenOperations open_operations_;
  std::atomic<std::uint64_t> epoch_{1};  // rises when a communicator dies or gets an engine, and with MPI_Init
  std::mutex mutex_;
  std::vector<Communicator*> communicators_;
  std::array<std::array<Served, std::size(kCollectives)>, 2> served_{};  // by form
  ProxyRequests proxies_;
  PersistentCalls persistent_calls_;
  std::atomic<int> in_flight_{0};
  std::vector<std::unique_ptr<InFlight>> orphans_;  // of communicators that died before their calls ended
};

}  // namespace stretto::mpi
