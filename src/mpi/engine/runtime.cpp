#include "mpi/engine/runtime.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "core/clock.hpp"
#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/engine/machine_measurement.hpp"
#include "mpi/engine/measured_files.hpp"
#include "mpi/entry/native.hpp"
#include "stretto/stretto.h"

namespace stretto::mpi {
namespace {

// Launchers tell a process its rank before MPI does: so one rank prints a complaint instead of all.
bool is_zero(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    if (const char* rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

bool speaks_for_all() { return is_zero({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}); }

// The same for a node, where known: what is wrong on one need not be on another.
bool speaks_for_node() { return is_zero({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}); }

// A launcher ends the whole job at the first exit: whoever is silent stays until the speaker has spoken, which ends it.
constexpr unsigned kSilentSeconds = 2;

[[noreturn]] void refuse(const std::string& message, bool speaks = speaks_for_all()) {
  if (speaks) {
    std::fprintf(stderr, "%s\n", message.c_str());
  } else {
    sleep(kSilentSeconds);
  }
  std::exit(2);
}

std::string library_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  using Function = int (*)(char*, int*);
  reinterpret_cast<Function>(next_symbol("MPI_Get_library_version"))(version, &length);
  return version;
}

}  // namespace

Runtime& Runtime::get() {
  // Never destroyed: MPI may call back into it until the process is gone.
  static auto* runtime = new Runtime;
  return *runtime;
}

void Runtime::check_environment() {
  const std::string version = library_version();
#if defined(OPEN_MPI)
  const bool fits = version.find("Open MPI") != std::string::npos;
  constexpr const char* kBuiltFor = "Open MPI";
#else
  const bool fits = version.find("Open MPI") == std::string::npos;
  constexpr const char* kBuiltFor = "MPICH or Intel MPI";
#endif
  if (!fits) {
    refuse("stretto: this library was built for " + std::string(kBuiltFor) + ", but the program runs on " +
           version.substr(0, version.find('\n')) + "; start it with `stretto run`, which picks the one that fits");
  }
  std::string error;
  configuration_ = read_configuration(error);
  if (error.empty()) error = Profiler::find_error(configuration_.profile);
  if (!error.empty()) refuse(error);
  error = BackgroundWork::find_error(configuration_.background_cores);
  if (!error.empty()) refuse(error, speaks_for_node());
}

namespace {

bool was_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
#ifndef SMPI_H  // SimGrid has no other worlds, and stops a program that asks for its parent
  PMPI_Comm_get_parent(&parent);
#endif
  return parent != MPI_COMM_NULL;
}

// A rank without Stretto takes no part. It must not take this for its own communication, either: so this is a
// non-blocking collective, which no blocking one of the program's can be mistaken for, and which need not end.
void compare_settings([[maybe_unused]] std::uint64_t fingerprint) {
#ifndef SMPI_H  // whose ranks are one process, and whose time stands still for one that looks
  constexpr std::int64_t kYieldForNs = 1'000'000'000;
  constexpr std::int64_t kPatienceNs = 30'000'000'000;  // MPI_Init has ended on all ranks: they are here at once
  std::uint64_t range[2] = {fingerprint, ~fingerprint};
  MPI_Request comparison = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, range, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &comparison);
  const std::int64_t begin_ns = monotonic_ns();
  int done = 0;
  for (PMPI_Test(&comparison, &done, MPI_STATUS_IGNORE); done == 0; PMPI_Test(&comparison, &done, MPI_STATUS_IGNORE)) {
    const std::int64_t waited_ns = monotonic_ns() - begin_ns;
    waited_ns < kYieldForNs ? sched_yield() : usleep(1000);
    if (waited_ns < kPatienceNs) continue;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    refuse(
        "stretto: not all ranks have come here 30 s after MPI_Init: does each of them run with Stretto? Preload it "
        "into all ranks or into none (`stretto run` does)",
        rank <= 1);  // one of both may be without
  }
  if (range[0] == ~range[1]) return;
  refuse(
      "stretto: the ranks have different STRETTO_* settings; give all of them the same environment "
      "(`stretto run` does)");
#endif
}

}  // namespace

void Runtime::start() {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Runtime::forget, &keyval_, nullptr);
  compare_settings(configuration_.fingerprint());
  configuration_.rules = share_rules(configuration_.rules_file, MPI_COMM_WORLD);
  world_.open(configuration_);
  if (configuration_.non_blocking && world_.failures().can_be_known()) leave_non_blocking();
  if (was_spawned()) meet_others();
  profiler_.start(configuration_, world_);
  PMPI_Comm_dup(MPI_COMM_SELF, &self_);
  PMPI_Comm_set_errhandler(self_, MPI_ERRORS_RETURN);
  prepare_background();
  gpu_drivers.start();
  lessons_.open(configuration_, world_);
  if (configuration_.non_blocking) proxies_.open();
  active_ = true;
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  introduce(MPI_COMM_WORLD);
}

// Only the library's own requests can end in its error.
void Runtime::leave_non_blocking() {
  configuration_.non_blocking = false;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::fprintf(stderr,
               "stretto: non-blocking collectives stay the MPI library's own, which is to survive failed processes "
               "(mpirun --with-ft): only its own end in an error when one fails\n");
}

void Runtime::prepare_background() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  main_thread_ = std::this_thread::get_id();
  any_thread_may_ = level == MPI_THREAD_MULTIPLE;
  const bool wanted =
      configuration_.background == Background::thread || configuration_.background == Background::automatic;
  background_.configure(wanted && level == MPI_THREAD_MULTIPLE, configuration_.background_cores);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!wants_thread() || level == MPI_THREAD_MULTIPLE || rank != 0) return;
  std::fprintf(stderr,
               configuration_.background == Background::thread
                   ? "stretto: STRETTO_BACKGROUND=thread: this MPI library does not give MPI_THREAD_MULTIPLE; "
                     "the program's MPI calls drive the background instead\n"
                   : "stretto: non-blocking collectives stay the MPI library's own, which does not give "
                     "MPI_THREAD_MULTIPLE; STRETTO_BACKGROUND=polled lets the program's MPI calls drive them\n");
}

// Whether a program's other calls, of which we know nothing, let its non-blocking ones go on, must not matter: a thread
// drives them, unless the user has it otherwise. The same on all ranks, as MPI gives all the same.
void Runtime::prepare_in_flight(Communicator& communicator, MPI_Comm comm) {
  const bool driven = background_.is_threaded() || configuration_.background == Background::polled;
  if (!configuration_.non_blocking || !driven || !communicator.eligible || communicator.in_flight) return;
  communicator.in_flight = InFlight::make(comm, world_, configuration_, proxies_, in_flight_);
  if (communicator.in_flight) background_.add(*communicator.in_flight);
}

void Runtime::introduce(MPI_Comm comm) {
  if (!configuration_.non_blocking && !profiler_.active()) return;
  if (Communicator* communicator = this->communicator(comm)) prepare_in_flight(*communicator, comm);
}

void Runtime::finish() {
  if (!active_) return;
  if (configuration_.verbose) report();
  background_.stop();
  active_ = false;
  epoch_.fetch_add(1, std::memory_order_acq_rel);  // communicators of sessions may outlive the world, natively
  if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
  close_engines();
  profiler_.finish(world_, communicators_, lessons_);
  if (world_.rank() == 0) lessons_.report();
  lessons_.close(world_);
  proxies_.close();
  world_.close();
}

// Of all communicators that are left. Each rank may have made them in another order, and closing one is collective.
void Runtime::close_engines() {
  std::vector<Engine*> engines;
  for (Communicator* communicator : communicators_) {
    if (communicator->engine) engines.push_back(communicator->engine.get());
  }
  std::ranges::sort(engines, {}, &Engine::key);
  for (Engine* engine : engines) engine->close();
}

void Runtime::close(MPI_Comm comm) {
  void* state = nullptr;
  int found = 0;
  if (active_ && comm != MPI_COMM_NULL) PMPI_Comm_get_attr(comm, keyval_, &state, &found);
  if (found == 0) return;
  if (Engine* engine = static_cast<Communicator*>(state)->engine.get()) engine->close();
}

Communicator* Runtime::communicator(MPI_Comm comm, bool blocking) {
  struct Remembered {
    MPI_Comm comm;
    Communicator* communicator;
    std::uint64_t epoch;
  };
  static thread_local Remembered latest{MPI_COMM_NULL, nullptr, 0};
  const std::uint64_t epoch = this->epoch();
  if (latest.comm == comm && latest.epoch == epoch) return latest.communicator;
  if (!active_ || comm == MPI_COMM_NULL) return nullptr;

  void* state = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval_, &state, &found);
  auto* communicator = found != 0 ? static_cast<Communicator*>(state) : make_communicator(comm, blocking);
  latest = {comm, communicator, epoch};
  return latest.communicator;
}

Communicator* Runtime::make_communicator(MPI_Comm comm, bool blocking) {
  auto* communicator = new Communicator;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &communicator->rank);
  PMPI_Comm_size(comm, &communicator->size);
  if (comm == MPI_COMM_WORLD) communicator->young_calls = 0;  // which stays
  communicator->eligible = inter == 0 && communicator->size > 1 && within_world(comm);
  if (profiler_.active()) {
    describe_peers(*communicator, comm, inter != 0);
    profiler_.introduce(*communicator, comm,
                        !blocking || inter != 0 || (communicator->size > 1 && !communicator->eligible));
  }
  PMPI_Comm_set_attr(comm, keyval_, communicator);
  const std::scoped_lock lock(mutex_);
  communicators_.push_back(communicator);
  return communicator;
}

// Of which lengths the arrays of counts are that the program passes.
void Runtime::describe_peers(Communicator& communicator, MPI_Comm comm, bool inter) {
  communicator.peers = communicator.size;
  if (inter) {
    PMPI_Comm_remote_size(comm, &communicator.peers);
    return;
  }
  int topology = MPI_UNDEFINED;
  int in = 0;
  int weighted = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &communicator.out_neighbours);
    communicator.out_neighbours *= 2;
  } else if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, communicator.rank, &communicator.out_neighbours);
  } else if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &communicator.out_neighbours, &weighted);
  }
}

Engine* Runtime::make_engine(Communicator& communicator, MPI_Comm comm) {
  communicator.engine = Engine::make(comm, world_, configuration_, open_operations_);
  communicator.eligible = communicator.engine != nullptr;
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  static std::atomic<bool> told{false};
  if (!communicator.engine && communicator.rank == 0 && !told.exchange(true)) {
    std::fprintf(stderr,
                 "stretto: this MPI library has no tags left for another communicator: calls on it, and on those that "
                 "follow until some are freed, are the MPI library's own\n");
  }
  return communicator.engine.get();
}

int Runtime::forget(MPI_Comm, int, void* state, void*) {
  Runtime& runtime = get();
  const ReentryGuard guard;
  auto* communicator = static_cast<Communicator*>(state);
  {
    const std::scoped_lock lock(runtime.mutex_);
    std::erase(runtime.communicators_, communicator);
    runtime.let_go(std::move(communicator->in_flight));
  }
  runtime.epoch_.fetch_add(1, std::memory_order_acq_rel);
  // What could not end may still be referred to.
  if (communicator->engine && communicator->engine->is_revoked())
    communicator->engine.release();  // NOLINT(bugprone-unused-return-value)
  delete communicator;
  return MPI_SUCCESS;
}

// Calls go on when their communicator has been freed. Their engine goes when a later communicator does.
void Runtime::let_go(std::unique_ptr<InFlight> in_flight) {
  if (in_flight) orphans_.push_back(std::move(in_flight));
  std::erase_if(orphans_, [this](const std::unique_ptr<InFlight>& orphan) {
    if (orphan->has_work() || persistent_calls_.any_of(*orphan)) return false;
    background_.remove(*orphan);
    return true;
  });
}

// A communicator with processes that were spawned or connected to may hold some that run without Stretto. Both sides
// see each other outside their own world, so both leave it alone. Whoever is in one has met them by a call of its own,
// so the rest need not look: MPI libraries compare two groups member by member.
bool Runtime::within_world(MPI_Comm comm) const {
  if (!world_.is_open()) return false;  // sessions have none
  if (!world_.has_met_others()) return true;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group common = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  PMPI_Group_intersection(group, world, &common);
  int common_size = 0;
  int size = 0;
  PMPI_Group_size(common, &common_size);
  PMPI_Group_size(group, &size);
  for (MPI_Group* used : {&world, &group, &common}) {
    if (*used != MPI_GROUP_EMPTY) PMPI_Group_free(used);
  }
  return common_size == size;
}

int Runtime::measure_machine(const char* file) {
  return active_ && world_.is_open() ? measure_into(file, world_, self_, configuration_) : STRETTO_NOT_ACTIVE;
}

bool Runtime::is_committed(MPI_Datatype datatype) const {
  if (self_ == MPI_COMM_NULL) return true;
  int position = 0;
  char nothing = 0;
  return PMPI_Pack(&nothing, 0, datatype, &nothing, 0, &position, self_) == MPI_SUCCESS;
}

void Runtime::report() const {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  if (const int open = open_operations_.count(); open > 0) {
    std::fprintf(
        stderr,
        "stretto: rank 0: %d requests and windows were never completed or freed; with such, where ranks are on "
        "several nodes, waits in collectives look after MPI all the time\n",
        open);
  }
  if (anticipated_.begun + anticipated_.by_history + anticipated_.by_hints > 0) {
    const auto number = [](const std::atomic<std::uint64_t>& value) { return static_cast<unsigned long long>(value); };
    std::fprintf(stderr,
                 "stretto: rank 0: %llu calls begun ahead, %llu given up; order of arrival from history in %llu, "
                 "from hints in %llu\n",
                 number(anticipated_.begun), number(anticipated_.given_up), number(anticipated_.by_history),
                 number(anticipated_.by_hints));
  }
  for (Form form : {Form::blocking, Form::non_blocking}) {
    for (Collective collective : kCollectives) {
      const std::string prefix = form == Form::blocking ? "" : "i";
      served_[static_cast<std::size_t>(form)][static_cast<std::size_t>(collective)].report(
          prefix + std::string(name_of(collective)));
    }
  }
}

}  // namespace stretto::mpi
