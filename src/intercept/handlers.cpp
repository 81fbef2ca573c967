#include "intercept/handlers.hpp"

#include <climits>

#include "intercept/datatypes.hpp"
#include "intercept/observation.hpp"
#include "intercept/runtime.hpp"
#include "stretto/stretto.h"

namespace stretto::intercept {
namespace {

/// One call of a collective on its way through Stretto: selected, run or passed on, observed, counted.
class Interception {
 public:
  Interception(Collective collective, Operation operation, MPI_Comm comm, const CallSite& site)
      : runtime_(Runtime::get()),
        collective_(collective),
        comm_(comm),
        communicator_(needs_state() ? runtime_.communicator(comm) : nullptr),
        observation_(runtime_.profiler(), communicator_, operation, {0, site.caller}) {
    if (!observation_.wanted()) return;
    site.describe(observation_);
    observation_.begin();
  }
  ~Interception() {
    runtime_.count(collective_, algorithm_);
    observation_.ran(algorithm_);
  }
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;

  /// Chooses the algorithm; false if the call is to be passed on. The same on all ranks.
  bool select(const Call& call, bool commutative) {
    if (!eligible()) return false;
    if (runtime_.configuration().choice(collective_).kind == Choice::Kind::native) return false;
    Engine& engine = runtime_.engine(*communicator_, comm_);
    const auto facts = [&] {
      return CallFacts{collective_,         call.bytes(),       call.element_bytes,       commutative,
                       communicator_->size, engine.has_board(), engine.max_pool_window(), engine.recent_skew_ns()};
    };
    const Algorithm* chosen = choose(runtime_.configuration(), facts());
    // A pool that cannot be had is known to be so from now on: choose again.
    if (chosen != nullptr && chosen->needs_pool(call.bytes()) && !engine.ensure_pool(call.bytes())) {
      chosen = choose(runtime_.configuration(), facts());
    }
    algorithm_ = chosen;
    return chosen != nullptr;
  }

  int run(const Call& call) {
    observation_.arrived(communicator_->engine->run(*algorithm_, call));
    return MPI_SUCCESS;
  }

  bool root_is_valid(int root) const { return eligible() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return eligible() && communicator_->rank == rank; }

 private:
  bool needs_state() const {
    return runtime_.configuration().choice(collective_).kind != Choice::Kind::native || runtime_.profiler().active();
  }
  bool eligible() const { return communicator_ != nullptr && communicator_->eligible; }

  const Inside inside_;
  Runtime& runtime_;
  Collective collective_;
  MPI_Comm comm_;
  Communicator* communicator_;
  const Algorithm* algorithm_ = nullptr;
  Observation observation_;
};

// Buffers that Stretto can work with; everything else is left to the MPI library, which knows what is an error.
bool usable(const void* buffer) { return buffer != nullptr && buffer != MPI_IN_PLACE; }

}  // namespace

int Handler::Init(int* argc, char*** argv) noexcept { return Init_thread(argc, argv, MPI_THREAD_SINGLE, nullptr); }

int Handler::Init_thread(int*, char***, int, int*) noexcept {
  Runtime::get().check_environment();
  const Inside inside;
  const int result = native_();
  if (result == MPI_SUCCESS) Runtime::get().start();
  return result;
}

#if STRETTO_SESSIONS
int Handler::Session_init(MPI_Info, MPI_Errhandler, MPI_Session*) noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.active()) runtime.check_environment();
  const Inside inside;
  const int result = native_();
  if (result == MPI_SUCCESS && !runtime.active()) runtime.start_without_world();
  return result;
}
#endif

int Handler::Finalize() noexcept {
  const Inside inside;
  Runtime::get().finish();
  return native_();
}

int Handler::Pcontrol(int level) noexcept {
  Runtime::get().profiler().set_recording(level > 0);
  return native_();
}

int Handler::Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm) noexcept {
  Interception call(Collective::allreduce, Operation::Allreduce, comm, site_);
  BoundReduction bound;
  const bool valid =
      count > 0 && usable(recvbuf) && sendbuf != nullptr && sendbuf != recvbuf && bound.bind(datatype, op);
  if (!valid) return native_();
  Call arguments;
  arguments.output = static_cast<std::byte*>(recvbuf);
  arguments.input = sendbuf == MPI_IN_PLACE ? arguments.output : static_cast<const std::byte*>(sendbuf);
  arguments.count = static_cast<std::size_t>(count);
  arguments.element_bytes = bound.reduction().element_bytes;
  arguments.reduction = &bound.reduction();
  if (!call.select(arguments, bound.reduction().commutative)) return native_();
  return call.run(arguments);
}

int Handler::Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm) noexcept {
  Interception call(Collective::reduce, Operation::Reduce, comm, site_);
  BoundReduction bound;
  const bool at_root = call.is_rank(root);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const bool buffers = at_root ? usable(recvbuf) && sendbuf != nullptr && sendbuf != recvbuf : usable(sendbuf);
  if (count <= 0 || !call.root_is_valid(root) || !buffers || !bound.bind(datatype, op)) return native_();
  Call arguments;
  arguments.output = at_root ? static_cast<std::byte*>(recvbuf) : nullptr;
  arguments.input = at_root && in_place ? arguments.output : static_cast<const std::byte*>(sendbuf);
  arguments.count = static_cast<std::size_t>(count);
  arguments.element_bytes = bound.reduction().element_bytes;
  arguments.reduction = &bound.reduction();
  arguments.root = root;
  if (!call.select(arguments, bound.reduction().commutative)) return native_();
  return call.run(arguments);
}

int Handler::Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::bcast, Operation::Bcast, comm, site_);
  // Ranks may give different counts and datatypes: only the number of bytes is common to all, so only it may decide.
  const std::optional<Layout> layout = layout_of(datatype);
  const std::size_t bytes = layout && count > 0 ? layout->bytes * static_cast<std::size_t>(count) : 0;
  if (bytes == 0 || bytes > INT_MAX || !call.root_is_valid(root)) return native_();
  if (!layout->predefined && !Runtime::get().is_committed(datatype)) return native_();
  Call arguments;
  arguments.count = bytes;
  arguments.root = root;
  if (!call.select(arguments, true)) return native_();
  PackedBuffer packed(buffer, count, datatype, *layout, comm);
  arguments.output = packed.data();
  arguments.input = arguments.output;
  if (call.is_rank(root)) packed.pack();
  const int result = call.run(arguments);
  if (!call.is_rank(root)) packed.unpack();
  return result;
}

int Handler::Barrier(MPI_Comm comm) noexcept {
  Interception call(Collective::barrier, Operation::Barrier, comm, site_);
  if (!call.select(Call{}, true)) return native_();
  return call.run(Call{});
}

}  // namespace stretto::intercept

using stretto::Collective;

static const Collective* collective_named(const char* name) {
  for (const Collective& collective : stretto::kCollectives) {
    if (stretto::name_of(collective) == name) return &collective;
  }
  return nullptr;
}

int Stretto_force(const char* collective, const char* algorithm) {
  const Collective* which = collective_named(collective);
  if (which == nullptr) return STRETTO_UNKNOWN_COLLECTIVE;
  const auto choice = stretto::parse_choice(*which, algorithm);
  if (!choice) return STRETTO_UNKNOWN_ALGORITHM;
  stretto::intercept::Runtime::get().configuration().choice(*which) = *choice;
  return STRETTO_OK;
}

const char* Stretto_last_algorithm(const char* collective) {
  const Collective* which = collective_named(collective);
  return which == nullptr ? nullptr : stretto::intercept::Runtime::get().last_algorithm(*which);
}
