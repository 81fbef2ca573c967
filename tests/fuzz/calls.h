/* Random collective calls: every kind, blocking, not, and persistent, of any type, in place, with any root. */
#ifndef STRETTO_TESTS_CALLS_H
#define STRETTO_TESTS_CALLS_H

#include "plan.h"

/* Open MPI 5 has persistent collectives, and says that it is of MPI 3.1. Intel MPI 2021.18 alone fails where a
 * persistent scatter is started for the third time, with "Invalid communicator" in MPI_Wait. */
#if defined(I_MPI_NUMVERSION)
#define FUZZ_PERSISTENT 0
#elif MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define FUZZ_PERSISTENT 1
#else
#define FUZZ_PERSISTENT 0
#endif

enum {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kScan,
  kExscan,
  kScatter,
  kGather,
  kAllgather,
  kAlltoall,
  kScatterv,
  kGatherv,
  kAllgatherv,
  kAlltoallv,
  kReduceScatterBlock,
  kReduceScatter,
  kKinds
};

/* What all ranks of the communicator draw alike. */
typedef struct {
  uint64_t seed;
  int kind, type, count, root;
  MPI_Op op;
  bool in_place, later, persistent; /* later: non-blocking, or persistent */
} Step;

/* One rank's side of it. */
typedef struct {
  int send_counts[kMostRanks], send_places[kMostRanks], recv_counts[kMostRanks], recv_places[kMostRanks];
  Buffer send, recv;
} Side;

struct Call {
  Step step;
  int rank;
  Side side;
};

static inline int draw_count(uint64_t* state) {
  const int kBounds[] = {1, 3, 9, 9, 130, 130, 3000, 40000};
  return pick(state, kBounds[pick(state, 8)]);
}

static inline bool reduces(int kind) {
  return kind == kReduce || kind == kAllreduce || kind == kScan || kind == kExscan || kind >= kReduceScatterBlock;
}

static inline Step draw_step(uint64_t state, int size) {
  Step step = {.seed = draw(&state), .kind = pick(&state, kKinds)};
  step.type = pick(&state, reduces(step.kind) ? kGaps : kTypes);
  step.count = draw_count(&state);
  if (step.kind >= kScatter) step.count = step.count / 4 + step.count % 2;
  step.root = pick(&state, 1 << 20) % size;
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN};
  const MPI_Op bits[] = {MPI_BXOR, MPI_BAND, MPI_BOR};
  step.op = step.type == kBytes ? bits[pick(&state, 3)] : ops[pick(&state, 3)];
  if (step.type == kAffine) step.op = affine_op;
  step.in_place = one_in(&state, 4);
  step.later = one_in(&state, 4);
  step.persistent = FUZZ_PERSISTENT && one_in(&state, 3);
  return step;
}

/* From rank `from` to rank `to` of a call with lengths. */
static inline int length_of(const Step* step, int from, int to) {
  return (int)(mixed(step->seed ^ (uint64_t)(from * 64 + to)) % (uint64_t)(2 * step->count + 1));
}

static inline int place_all(int* places, const int* counts, int size) {
  int next = 0;
  for (int rank = 0; rank < size; rank++) {
    places[rank] = next;
    next += counts[rank] + 1; /* a gap that nobody writes to */
  }
  return next;
}

/* Lengths and places of what goes to and comes from each rank. Returns the elements that must be sent and received. */
static inline void find_lengths(const Step* step, const Comm* comm, Side* side, int* sends, int* receives) {
  const bool one_to_all = step->kind == kScatterv, all_to_one = step->kind == kGatherv || step->kind == kAllgatherv;
  for (int rank = 0; rank < comm->size; rank++) {
    side->send_counts[rank] = one_to_all ? length_of(step, 0, rank) : length_of(step, comm->rank, rank);
    side->recv_counts[rank] =
        all_to_one || step->kind == kReduceScatter ? length_of(step, rank, 0) : length_of(step, rank, comm->rank);
  }
  *sends = place_all(side->send_places, side->send_counts, comm->size);
  *receives = place_all(side->recv_places, side->recv_counts, comm->size);
}

/* How many elements the rank's buffers have. */
static inline void find_sizes(const Step* step, const Comm* comm, Side* side, int* sends, int* receives) {
  const int count = step->count, all = count * comm->size;
  const bool at_root = comm->rank == step->root;
  find_lengths(step, comm, side, sends, receives);
  const int total = *receives - comm->size; /* of a reduce_scatter, without gaps */
  switch (step->kind) {
    case kBarrier:
      *sends = *receives = 0;
      break;
    case kBcast:
      *sends = 0, *receives = count;
      break;
    case kReduce:
    case kAllreduce:
    case kScan:
    case kExscan:
      *sends = *receives = count;
      break;
    case kScatter:
      *sends = at_root ? all : 0, *receives = count;
      break;
    case kGather:
      *sends = count, *receives = at_root ? all : 0;
      break;
    case kAllgather:
      *sends = count, *receives = all;
      break;
    case kAlltoall:
      *sends = *receives = all;
      break;
    case kReduceScatterBlock:
      *sends = *receives = all;
      break;
    case kScatterv:
      *sends = at_root ? *sends : 0, *receives = side->send_counts[comm->rank];
      break;
    case kGatherv:
      *sends = side->recv_counts[comm->rank], *receives = at_root ? *receives : 0;
      break;
    case kAllgatherv:
      *sends = side->recv_counts[comm->rank];
      break;
    case kReduceScatter:
      *sends = *receives = total;
      break;
    default:
      break;
  }
}

static inline bool can_be_in_place(const Step* step) {
  const int kind = step->kind;
  return step->in_place && kind != kBarrier && kind != kBcast && kind != kScatterv && kind != kGatherv &&
         kind != kAllgatherv && kind != kAlltoallv;
}

/* What a call takes for the send buffer, and for the receive buffer where a scatter's root is in place. */
typedef struct {
  const void* in;
  void* out;
} Ends;

static inline Ends prepare_side(const Step* step, const Comm* comm, Side* side) {
  int sends, receives;
  find_sizes(step, comm, side, &sends, &receives);
  const size_t extent = kExtent[step->type];
  side->send = new_buffer((size_t)sends * extent);
  side->recv = new_buffer((size_t)receives * extent);
  fill(data_of(side->send), step->type, (size_t)sends, step->seed, comm->rank);
  const bool at_root = comm->rank == step->root;
  if (step->kind == kBcast && at_root) fill(data_of(side->recv), step->type, (size_t)receives, step->seed, comm->rank);
  Ends ends = {data_of(side->send), data_of(side->recv)};
  if (!can_be_in_place(step)) return ends;
  const bool rooted = step->kind == kReduce || step->kind == kScatter || step->kind == kGather;
  if (rooted && !at_root) return ends;
  if (step->kind == kScatter) {
    ends.out = MPI_IN_PLACE;
  } else {
    fill(data_of(side->recv), step->type, (size_t)receives, step->seed, comm->rank);
    ends.in = MPI_IN_PLACE;
  }
  return ends;
}

static inline int run_blocking(const Step* s, const Comm* c, const Side* side, Ends ends) {
  const MPI_Datatype t = types[s->type];
  const int *sc = side->send_counts, *sp = side->send_places, *rc = side->recv_counts, *rp = side->recv_places;
  switch (s->kind) {
    case kBarrier:
      return MPI_Barrier(c->comm);
    case kBcast:
      return MPI_Bcast(ends.out, s->count, t, s->root, c->comm);
    case kReduce:
      return MPI_Reduce(ends.in, ends.out, s->count, t, s->op, s->root, c->comm);
    case kAllreduce:
      return MPI_Allreduce(ends.in, ends.out, s->count, t, s->op, c->comm);
    case kScan:
      return MPI_Scan(ends.in, ends.out, s->count, t, s->op, c->comm);
    case kExscan:
      return MPI_Exscan(ends.in, ends.out, s->count, t, s->op, c->comm);
    case kScatter:
      return MPI_Scatter(ends.in, s->count, t, ends.out, s->count, t, s->root, c->comm);
    case kGather:
      return MPI_Gather(ends.in, s->count, t, ends.out, s->count, t, s->root, c->comm);
    case kAllgather:
      return MPI_Allgather(ends.in, s->count, t, ends.out, s->count, t, c->comm);
    case kAlltoall:
      return MPI_Alltoall(ends.in, s->count, t, ends.out, s->count, t, c->comm);
    case kScatterv:
      return MPI_Scatterv(ends.in, sc, sp, t, ends.out, sc[c->rank], t, s->root, c->comm);
    case kGatherv:
      return MPI_Gatherv(ends.in, rc[c->rank], t, ends.out, rc, rp, t, s->root, c->comm);
    case kAllgatherv:
      return MPI_Allgatherv(ends.in, rc[c->rank], t, ends.out, rc, rp, t, c->comm);
    case kAlltoallv:
      return MPI_Alltoallv(ends.in, sc, sp, t, ends.out, rc, rp, t, c->comm);
    case kReduceScatterBlock:
      return MPI_Reduce_scatter_block(ends.in, ends.out, s->count, t, s->op, c->comm);
    default:
      return MPI_Reduce_scatter(ends.in, ends.out, rc, t, s->op, c->comm);
  }
}

#if FUZZ_PERSISTENT
#define FORM(Name, name, ...) \
  (s->persistent ? MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request) : MPI_I##name(__VA_ARGS__, request))
#else
#define FORM(Name, name, ...) MPI_I##name(__VA_ARGS__, request)
#endif

static inline int run_later(const Step* s, const Comm* c, const Side* side, Ends ends, MPI_Request* request) {
  const MPI_Datatype t = types[s->type];
  const int *sc = side->send_counts, *sp = side->send_places, *rc = side->recv_counts, *rp = side->recv_places;
  switch (s->kind) {
    case kBarrier:
      return FORM(Barrier, barrier, c->comm);
    case kBcast:
      return FORM(Bcast, bcast, ends.out, s->count, t, s->root, c->comm);
    case kReduce:
      return FORM(Reduce, reduce, ends.in, ends.out, s->count, t, s->op, s->root, c->comm);
    case kAllreduce:
      return FORM(Allreduce, allreduce, ends.in, ends.out, s->count, t, s->op, c->comm);
    case kScan:
      return FORM(Scan, scan, ends.in, ends.out, s->count, t, s->op, c->comm);
    case kExscan:
      return FORM(Exscan, exscan, ends.in, ends.out, s->count, t, s->op, c->comm);
    case kScatter:
      return FORM(Scatter, scatter, ends.in, s->count, t, ends.out, s->count, t, s->root, c->comm);
    case kGather:
      return FORM(Gather, gather, ends.in, s->count, t, ends.out, s->count, t, s->root, c->comm);
    case kAllgather:
      return FORM(Allgather, allgather, ends.in, s->count, t, ends.out, s->count, t, c->comm);
    case kAlltoall:
      return FORM(Alltoall, alltoall, ends.in, s->count, t, ends.out, s->count, t, c->comm);
    case kScatterv:
      return FORM(Scatterv, scatterv, ends.in, sc, sp, t, ends.out, sc[c->rank], t, s->root, c->comm);
    case kGatherv:
      return FORM(Gatherv, gatherv, ends.in, rc[c->rank], t, ends.out, rc, rp, t, s->root, c->comm);
    case kAllgatherv:
      return FORM(Allgatherv, allgatherv, ends.in, rc[c->rank], t, ends.out, rc, rp, t, c->comm);
    case kAlltoallv:
      return FORM(Alltoallv, alltoallv, ends.in, sc, sp, t, ends.out, rc, rp, t, c->comm);
    case kReduceScatterBlock:
      return FORM(Reduce_scatter_block, reduce_scatter_block, ends.in, ends.out, s->count, t, s->op, c->comm);
    default:
      return FORM(Reduce_scatter, reduce_scatter, ends.in, ends.out, rc, t, s->op, c->comm);
  }
}

/* The first rank's result of an exscan is undefined. */
static inline void end_side(const Step* step, int rank, Side* side, uint64_t* seen) {
  const bool undefined = step->kind == kExscan && rank == 0;
  if (undefined) memset(data_of(side->recv), 0, side->recv.bytes);
  /* Of a reduce_scatter in place only the beginning is defined. */
  const bool partly = can_be_in_place(step) && step->kind >= kReduceScatterBlock;
  const size_t defined = (size_t)(step->kind == kReduceScatter ? side->recv_counts[rank] : step->count);
  if (partly)
    memset((char*)data_of(side->recv) + defined * kExtent[step->type], 0,
           side->recv.bytes - defined * kExtent[step->type]);
  end_buffer(&side->send, seen);
  end_buffer(&side->recv, seen);
}

static inline void call_blocking(const Step* step, const Comm* comm, Program* program) {
  Side side;
  const Ends ends = prepare_side(step, comm, &side);
  seen_code(program, run_blocking(step, comm, &side, ends));
  end_side(step, comm->rank, &side, &program->seen);
}

static inline void finish_open(Program* program, int at) {
  Open* open = &program->open[at];
  seen_code(program, MPI_Waitall(2, open->requests, MPI_STATUSES_IGNORE));
  for (int i = 0; open->persistent && i < 2; i++)
    if (open->requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&open->requests[i]);
  if (open->call != NULL) end_side(&open->call->step, open->call->rank, &open->call->side, &program->seen);
  free(open->call);
  for (int i = 0; i < 2; i++) end_buffer(&open->buffers[i], &program->seen);
  *open = program->open[--program->open_count];
}

/* A persistent one is run once here, and once more. */
static inline void start_later(Program* program, int at, const Step* step) {
  const Comm* comm = &program->comms[at];
  if (program->open_count == kMostOpen) finish_open(program, 0);
  Call* call = malloc(sizeof *call);
  if (call == NULL) abort();
  call->step = *step;
  call->rank = comm->rank;
  const Ends ends = prepare_side(step, comm, &call->side);
  Open* open = &program->open[program->open_count++];
  *open = (Open){
      .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, .persistent = step->persistent, .call = call, .comm = at};
  seen_code(program, run_later(step, comm, &call->side, ends, &open->requests[0]));
  if (!step->persistent || open->requests[0] == MPI_REQUEST_NULL) return;
  seen_code(program, MPI_Start(&open->requests[0]));
  seen_code(program, MPI_Wait(&open->requests[0], MPI_STATUS_IGNORE));
  seen_code(program, MPI_Start(&open->requests[0]));
}

/* A call has the same form on all its ranks, however many others a rank has under way. */
static inline void call_collective(Program* program, int at, uint64_t state) {
  const Comm* comm = &program->comms[at];
  const Step step = draw_step(state, comm->size);
  if (step.later) {
    start_later(program, at, &step);
  } else {
    call_blocking(&step, comm, program);
  }
}

/* ---- calls between two groups ---- */

static inline void reduce_between(Program* program, MPI_Comm between, uint64_t state) {
  const int count = draw_count(&state);
  Buffer in = new_buffer((size_t)count * 8), out = new_buffer((size_t)count * 8);
  fill(data_of(in), kUnsigned, (size_t)count, state, world_rank);
  seen_code(program, MPI_Allreduce(data_of(in), data_of(out), count, MPI_UINT64_T, MPI_SUM, between));
  end_buffer(&in, &program->seen);
  end_buffer(&out, &program->seen);
}

static inline void gather_between(Program* program, MPI_Comm between, uint64_t state) {
  int others;
  MPI_Comm_remote_size(between, &others);
  const int count = 1 + draw_count(&state) / 16;
  Buffer in = new_buffer((size_t)count * 8), out = new_buffer((size_t)(count * others) * 8);
  fill(data_of(in), kUnsigned, (size_t)count, state, world_rank);
  seen_code(program, MPI_Allgather(data_of(in), count, MPI_UINT64_T, data_of(out), count, MPI_UINT64_T, between));
  end_buffer(&in, &program->seen);
  end_buffer(&out, &program->seen);
}

/* From the lowest rank of the one group to all of the other. */
static inline void bcast_between(Program* program, MPI_Comm between, bool sends, uint64_t state) {
  int rank;
  MPI_Comm_rank(between, &rank);
  const int count = draw_count(&state), root = !sends ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  Buffer data = new_buffer((size_t)count * 8);
  if (root == MPI_ROOT) fill(data_of(data), kUnsigned, (size_t)count, state, 0);
  seen_code(program, MPI_Bcast(data_of(data), count, MPI_UINT64_T, root, between));
  end_buffer(&data, &program->seen);
}

/* A communicator is cut in two, which call each other, and are then merged. */
static inline void call_between(Program* program, int at, uint64_t state) {
  const Comm* comm = &program->comms[at];
  if (comm->size < 2) return;
  const int cut = 1 + pick(&state, comm->size - 1), calls = 1 + pick(&state, 4);
  const int high = comm->rank >= cut;
  Comm merged = {MPI_COMM_NULL, 0, comm->size};
  MPI_Comm own, between;
  MPI_Comm_split(comm->comm, high, comm->rank, &own);
  MPI_Intercomm_create(own, 0, comm->comm, high ? 0 : cut, 1001, &between);
  for (int call = 0; call < calls; call++) {
    const int kind = pick(&state, 4), from = pick(&state, 2);
    const uint64_t seed = draw(&state);
    if (kind == 0) seen_code(program, MPI_Barrier(between));
    if (kind == 1) reduce_between(program, between, seed);
    if (kind == 2) gather_between(program, between, seed);
    if (kind == 3) bcast_between(program, between, high == from, seed);
  }
  MPI_Intercomm_merge(between, !high, &merged.comm);
  MPI_Comm_rank(merged.comm, &merged.rank);
  const Step step = draw_step(draw(&state), merged.size);
  call_blocking(&step, &merged, program);
  MPI_Comm_free(&merged.comm);
  MPI_Comm_free(&between);
  MPI_Comm_free(&own);
}

#endif
