// The symbols that a program finds instead of the MPI library's: MPI_X and PMPI_X for every line of calls.def.
//
// Both names, because Open MPI's Fortran wrappers call PMPI_X where MPICH's call MPI_X; so every language arrives here,
// with handles and MPI_IN_PLACE already converted to C. Each name passes on to the next definition of the same name, so
// that tools above and below stay in the chain; calls that come back while we are inside go straight on.

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "mpi/calls/collectives.hpp"
#include "mpi/calls/handlers.hpp"
#include "mpi/calls/interception.hpp"
#include "mpi/calls/later_call.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/entry/native.hpp"
#include "mpi/entry/preload.hpp"
#include "mpi/profile/observation.hpp"

namespace stretto::mpi {

thread_local int ReentryGuard::depth = 0;

namespace {

// An MPI library that was loaded for one module only (Python extensions are) is not behind us in the search order until
// it is made global.
void make_mpi_global() {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"}) {
    if (dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr) return;
  }
}

}  // namespace

void* next_symbol(const char* symbol) {
  void* address = dlsym(RTLD_NEXT, symbol);
  if (address == nullptr) {
    make_mpi_global();
    address = dlsym(RTLD_NEXT, symbol);
  }
  if (address == nullptr) {
    std::fprintf(stderr,
                 "stretto: no MPI library behind this one defines %s; preload the library that was built for "
                 "the program's MPI (`stretto run` does)\n",
                 symbol);
    std::exit(2);
  }
  return address;
}

}  // namespace stretto::mpi

static stretto::mpi::OpenOperations& open_operations() { return stretto::mpi::Runtime::get().open_operations(); }

// A request, or a window, for which others may need this rank.
static int started(int result) {
  if (result == MPI_SUCCESS) open_operations().started();
  return result;
}
static int start(stretto::mpi::NativeCall native) { return started(native()); }

// The receiver of a short message finds it when it looks; what it has to do for a long one it should begin now.
static int send_message(stretto::mpi::NativeCall native, MPI_Count count, MPI_Datatype datatype) {
  constexpr MPI_Count kShort = 1024;  // bytes
  MPI_Count bytes = 0;
  const bool heard = stretto::mpi::NativeCall::is_heard() && datatype != MPI_DATATYPE_NULL;
  if (heard && PMPI_Type_size_x(datatype, &bytes) == MPI_SUCCESS) bytes *= count;
  return bytes > kShort ? native() : native.without_a_ring();
}

// In memory of `window`: that of a rank which sleeps, perhaps, but it need not be that rank that does it. SimGrid has
// no such calls.
[[maybe_unused]] static int access_window(stretto::mpi::NativeCall native, MPI_Win window) {
  constexpr std::int64_t kQuickNs = 50'000;  // less than that rank sleeps
  if (!stretto::mpi::NativeCall::is_heard()) return native.without_a_ring();
  stretto::mpi::WindowsInNeed& in_need = open_operations().windows_in_need();
  if (in_need.contains(window)) return native();
  const std::int64_t begin_ns = stretto::monotonic_ns();
  const int result = native.without_a_ring();
  if (stretto::monotonic_ns() - begin_ns > kQuickNs) in_need.add(window);
  return result;
}

static int make(stretto::mpi::NativeCall native) {
  const int result = native();
  if (result == MPI_SUCCESS) open_operations().window_made();
  return result;
}

// Of a collective that is the MPI library's own, or of one that only starts: `request` is nullptr for the former.
template <class Describe>
static int observe(stretto::mpi::MpiFunction operation, MPI_Comm comm, stretto::mpi::Observation::Form form,
                   const Describe& describe, stretto::mpi::NativeCall native, const MPI_Request* request,
                   const stretto::Algorithm* const* served = nullptr) {
  using namespace stretto::mpi;
  Runtime& runtime = Runtime::get();
  const bool blocking = request == nullptr;
  const bool persistent = (form.flags & stretto::profile::kPersistent) != 0;
  if (!runtime.profiler().active()) return blocking || persistent ? native() : start(native);
  const ReentryGuard guard;
  Observation observation(runtime.profiler(), runtime.communicator(comm, blocking), operation, form);
  if (!observation.wanted()) return blocking || persistent ? native() : start(native);
  describe(observation);
  if (form.caller.address != nullptr) observation.begin();
  const int result = native();
  if (blocking || result != MPI_SUCCESS) return result;
  if (!persistent) open_operations().started();
  observation.ran(*served);
  observation.hand_over(*request);
  return result;
}

// A communicator gets its identity where all its ranks are sure to be: in the call that makes it.
static int create(stretto::mpi::NativeCall native, const MPI_Comm* newcomm) {
  using namespace stretto::mpi;
  Runtime& runtime = Runtime::get();
  if (!runtime.profiler().active() && !runtime.configuration().non_blocking) return native();
  const ReentryGuard guard;
  const int result = native();
  if (result == MPI_SUCCESS) runtime.introduce(*newcomm);
  return result;
}

// The function `symbol`, which runs the body; there `next` is the one behind ours, `native` a call of it, and `caller`
// where ours was called from.
#define STRETTO_ENTRY(symbol, parameters, arguments, ...)                                                   \
  extern "C" __attribute__((visibility("default"))) int symbol parameters {                                 \
    using Function = int(*) parameters;                                                                     \
    static const auto next = reinterpret_cast<Function>(stretto::mpi::next_symbol(#symbol));                \
    if (stretto::mpi::ReentryGuard::active()) return next arguments;                                        \
    stretto::mpi::Runtime::get().background().poll();                                                       \
    [[maybe_unused]] const stretto::mpi::Caller caller{__builtin_return_address(0), __builtin_dwarf_cfa()}; \
    const auto pass = [&] { return next arguments; };                                                       \
    const stretto::mpi::NativeCall native(pass);                                                            \
    __VA_ARGS__                                                                                             \
  }
#define STRETTO_BOTH(name, parameters, arguments, ...)          \
  STRETTO_ENTRY(MPI_##name, parameters, arguments, __VA_ARGS__) \
  STRETTO_ENTRY(PMPI_##name, parameters, arguments, __VA_ARGS__)

#define STRETTO_CALL(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return stretto::mpi::Handler(native, caller).name arguments;)
#define STRETTO_CREATOR(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return create(native, newcomm);)
#define STRETTO_MEETING(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, stretto::mpi::Runtime::get().meet_others(); return native();)
#define STRETTO_SPAWN(name, parameters, arguments)                                      \
  STRETTO_BOTH(name, parameters, arguments, stretto::mpi::Runtime::get().meet_others(); \
               const stretto::mpi::PreloadGuard children; return native();)
#define STRETTO_PASSED(name, parameters, arguments) STRETTO_BOTH(name, parameters, arguments, return native();)
#define STRETTO_LOOK(name, parameters, arguments) STRETTO_BOTH(name, parameters, arguments, return native.look();)
#define STRETTO_ACCESS(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return access_window(native, window);)
#define STRETTO_SEND(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return send_message(native, count, datatype);)
#include "mpi/entry/calls.def"

#define STRETTO_ASKER(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return started(native.without_a_ring());)
#define STRETTO_SENDER(name, parameters, arguments) \
  STRETTO_BOTH(name, parameters, arguments, return started(send_message(native, count, datatype));)
#define STRETTO_STARTER(name, parameters, arguments) STRETTO_BOTH(name, parameters, arguments, return start(native);)
#define STRETTO_WINDOW(name, parameters, arguments) STRETTO_BOTH(name, parameters, arguments, return make(native);)
STRETTO_STARTER(Comm_idup, (MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request), (comm, newcomm, request))
STRETTO_STARTER(Grequest_start,
                (MPI_Grequest_query_function * query, MPI_Grequest_free_function* release,
                 MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request),
                (query, release, cancel, state, request))
STRETTO_WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* window), (info, comm, window))
#define STRETTO_NAME(name) name
#define COUNT int
#define UNIT int
#include "mpi/entry/passed.def"
#include "mpi/entry/starters.def"
#undef STRETTO_NAME
#undef COUNT
#undef UNIT
#if STRETTO_LARGE_COUNTS
#define STRETTO_NAME(name) name##_c
#define COUNT MPI_Count
#define UNIT MPI_Aint
#include "mpi/entry/passed.def"
#include "mpi/entry/starters.def"
#undef COUNT
#undef UNIT
#endif

#define STRETTO_LIST(...) __VA_ARGS__
#define STRETTO_DESCRIBE(description) \
  const auto describe = [&](stretto::mpi::Observation& observation) { observation.description; };
#define STRETTO_OBSERVE(name, description, flags, site, request) \
  STRETTO_DESCRIBE(description)                                  \
  return observe(stretto::mpi::MpiFunction::name, comm, {flags, site}, describe, native, request);

// The blocking forms.
#define STRETTO_ACCELERATE_BLOCKING(name, symbol, parameters, arguments, description)                      \
  STRETTO_BOTH(symbol, parameters, arguments,                                                              \
               STRETTO_DESCRIBE(description) return stretto::mpi::Collectives<stretto::mpi::Interception>( \
                   native, {caller, stretto::mpi::Description(describe)})                                  \
                   .name arguments;)
#define STRETTO_OBSERVE_BLOCKING(name, symbol, parameters, arguments, description) \
  STRETTO_BOTH(symbol, parameters, arguments, STRETTO_OBSERVE(name, description, 0, caller, nullptr))

// The other forms. A persistent collective is not called before MPI_Start. `SERVE(name, arguments, persistent)` is
// what runs it.
#define STRETTO_SERVE_LATER(name, arguments, persistent)                                                              \
  [&] {                                                                                                               \
    return stretto::mpi::Collectives<stretto::mpi::LaterCall>(native, {request, persistent, &served}).name arguments; \
  }
#define STRETTO_SERVE_NATIVELY(name, arguments, persistent) native
#define STRETTO_OBSERVE_LATER(SERVE, name, lower, arguments, description, flags, site, persistent)                \
  STRETTO_DESCRIBE(description)                                                                                   \
  const stretto::Algorithm* served = nullptr;                                                                     \
  const auto serve = SERVE(name, arguments, persistent);                                                          \
  return observe(stretto::mpi::MpiFunction::name, comm, {flags, site}, describe, stretto::mpi::NativeCall(serve), \
                 request, &served);
#define STRETTO_NON_BLOCKING(SERVE, name, lower, symbol, parameters, arguments, description)                     \
  STRETTO_BOTH(symbol, (STRETTO_LIST parameters, MPI_Request * request), (STRETTO_LIST arguments, request),      \
               STRETTO_OBSERVE_LATER(SERVE, name, lower, arguments, description, stretto::profile::kNonBlocking, \
                                     caller, false))
#if STRETTO_PERSISTENT
#define STRETTO_PERSISTENT_FORM(SERVE, name, lower, symbol, parameters, arguments, description)                 \
  STRETTO_BOTH(symbol, (STRETTO_LIST parameters, MPI_Info info, MPI_Request * request),                         \
               (STRETTO_LIST arguments, info, request),                                                         \
               STRETTO_OBSERVE_LATER(SERVE, name, lower, arguments, description, stretto::profile::kPersistent, \
                                     stretto::mpi::Caller{}, true))
#else
#define STRETTO_PERSISTENT_FORM(SERVE, name, lower, symbol, parameters, arguments, description)
#endif

#define STRETTO_FORMS(BLOCKING, SERVE, name, lower, suffix, parameters, arguments, description)  \
  BLOCKING(name, name##suffix, parameters, arguments, description)                               \
  STRETTO_NON_BLOCKING(SERVE, name, lower, I##lower##suffix, parameters, arguments, description) \
  STRETTO_PERSISTENT_FORM(SERVE, name, lower, name##_init##suffix, parameters, arguments, description)

#define COUNT int
#define COUNTS const int*
#define DISPLACEMENTS const int*
#define STRETTO_LARGE_FORM 0
#define STRETTO_ACCELERATED(name, lower, parameters, arguments, description) \
  STRETTO_FORMS(STRETTO_ACCELERATE_BLOCKING, STRETTO_SERVE_LATER, name, lower, , parameters, arguments, description)
#define STRETTO_OBSERVED(name, lower, parameters, arguments, description) \
  STRETTO_FORMS(STRETTO_OBSERVE_BLOCKING, STRETTO_SERVE_NATIVELY, name, lower, , parameters, arguments, description)
#include "mpi/entry/collectives.def"

#if STRETTO_LARGE_COUNTS
// Only where the host MPI has them: mpi4py probes for these symbols and would believe that it may use them all.
#undef COUNT
#undef COUNTS
#undef DISPLACEMENTS
#undef STRETTO_LARGE_FORM
#undef STRETTO_ACCELERATED
#undef STRETTO_OBSERVED
#define COUNT MPI_Count
#define COUNTS const MPI_Count*
#define DISPLACEMENTS const MPI_Aint*
#define STRETTO_LARGE_FORM 1
#define STRETTO_ACCELERATED(name, lower, parameters, arguments, description) \
  STRETTO_FORMS(STRETTO_ACCELERATE_BLOCKING, STRETTO_SERVE_LATER, name, lower, _c, parameters, arguments, description)
#define STRETTO_OBSERVED(name, lower, parameters, arguments, description) \
  STRETTO_FORMS(STRETTO_OBSERVE_BLOCKING, STRETTO_SERVE_NATIVELY, name, lower, _c, parameters, arguments, description)
#include "mpi/entry/collectives.def"
#endif
