#include "intercept/handlers.hpp"

#include <climits>

#include "core/clock.hpp"
#include "intercept/datatypes.hpp"
#include "intercept/interception.hpp"
#include "intercept/runtime.hpp"
#include "stretto/stretto.h"

namespace stretto::intercept {
namespace {

// Buffers that Stretto can work with; everything else is left to the MPI library, which knows what is an error.
bool usable(const void* buffer) { return buffer != nullptr && buffer != MPI_IN_PLACE; }

// What MPI is to be given as the send buffer.
const void* operand(const Call& call) { return call.input == call.output ? MPI_IN_PLACE : call.input; }

}  // namespace

int Handler::Init(int* argc, char*** argv) noexcept {
  int provided = MPI_THREAD_SINGLE;
  return Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int Handler::Init_thread(int* argc, char*** argv, int, int* provided) noexcept {
  Runtime::get().check_environment();
  const Inside inside;
  const bool raise = Runtime::get().wants_thread();
  const int result = raise ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided) : native_();
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
  if (call.select(arguments, bound.reduction().commutative)) return call.run(arguments);
  return call.pass_on(native_, arguments, [&](const Call& segment, int length, MPI_Request* request) {
    return PMPI_Iallreduce(operand(segment), segment.output, length, datatype, op, comm, request);
  });
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
  if (call.select(arguments, bound.reduction().commutative)) return call.run(arguments);
  return call.pass_on(native_, arguments, [&](const Call& segment, int length, MPI_Request* request) {
    return PMPI_Ireduce(operand(segment), segment.output, length, datatype, op, root, comm, request);
  });
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
  const bool ours = call.select(arguments, true);
  if (!ours && !call.wants_native_segments()) return native_();
  PackedBuffer packed(buffer, count, datatype, *layout, comm);
  arguments.output = packed.data();
  arguments.input = arguments.output;
  if (call.is_rank(root)) packed.pack();
  const auto start = [&](const Call& segment, int length, MPI_Request* request) {
    return PMPI_Ibcast(segment.output, length, MPI_BYTE, root, comm, request);
  };
  const int result = ours ? call.run(arguments) : call.pass_on(native_, arguments, start);
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
  stretto::intercept::Runtime& runtime = stretto::intercept::Runtime::get();
  runtime.configuration().choice(*which) = *choice;
  runtime.profiler().tell_algorithms();
  const stretto::intercept::Inside inside;
  runtime.background().for_each([&](stretto::intercept::Anticipation& one) { one.expect(*which, choice->algorithm); });
  runtime.background().wake();
  return STRETTO_OK;
}

int Stretto_compute_begin(void) {
  stretto::intercept::Runtime& runtime = stretto::intercept::Runtime::get();
  if (!runtime.active()) return STRETTO_NOT_ACTIVE;
  runtime.hints().begin(stretto::monotonic_ns());
  return STRETTO_OK;
}

int Stretto_progress_mark(double fraction) {
  using stretto::intercept::Hints;
  stretto::intercept::Runtime& runtime = stretto::intercept::Runtime::get();
  if (!runtime.active()) return STRETTO_NOT_ACTIVE;
  switch (runtime.hints().mark(fraction, stretto::monotonic_ns())) {
    case Hints::Answer::not_begun:
      return STRETTO_NOT_BEGUN;
    case Hints::Answer::bad_fraction:
      return STRETTO_BAD_FRACTION;
    case Hints::Answer::out_of_order:
      return STRETTO_MARK_OUT_OF_ORDER;
    case Hints::Answer::taken:
      break;
  }
  if (!runtime.may_call_mpi()) return STRETTO_OK;  // the others learn of it when this rank arrives
  const stretto::intercept::Inside inside;
  runtime.background().for_each([](stretto::intercept::Anticipation& one) { one.hint(); });
  runtime.background().wake();
  runtime.background().poll();
  return STRETTO_OK;
}

const char* Stretto_last_algorithm(const char* collective) {
  const Collective* which = collective_named(collective);
  return which == nullptr ? nullptr : stretto::intercept::Runtime::get().last_algorithm(*which);
}
