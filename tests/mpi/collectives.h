/* One checked call of a collective on any communicator: for tests about communicators, order and threads. */
#ifndef STRETTO_TESTS_COLLECTIVES_H
#define STRETTO_TESTS_COLLECTIVES_H

#include "check.h"

enum { kAllreduce, kReduce, kBcast, kBarrier, kScatter, kGather, kAllgather, kReduceScatter, kAlltoall, kCollectives };

/* What all ranks of the communicator must know alike. `salt` makes the values of neighbouring calls differ. */
typedef struct {
  int collective, count, root, salt;
  bool in_place;
} Call;

static inline bool values_are(const int64_t* data, const Call* call, int64_t first, int64_t step) {
  for (int i = 0; i < call->count; i++)
    if (data[i] != first + step * i) return false;
  return true;
}

/* Of scatter and gather rank r has the block whose elements are value_at(r, i) + salt. */
static inline bool run_blocks(MPI_Comm comm, const Call* call, int rank, int size) {
  const bool is_root = rank == call->root, in_place = is_root && call->in_place;
  const size_t count = (size_t)call->count, all_bytes = is_root ? count * (size_t)size * 8 : 0;
  int64_t* all = guarded_new(all_bytes);
  int64_t* mine = guarded_new(count * 8);
  for (int r = 0; r < size; r++)
    for (size_t i = 0; i < count; i++) {
      const int64_t value = value_at(r, (int64_t)i) + call->salt;
      if (is_root && (call->collective == kScatter || (in_place && r == rank))) all[(size_t)r * count + i] = value;
      if (r == rank && call->collective == kGather) mine[i] = value;
    }
  bool right = true;
  if (call->collective == kScatter) {
    MPI_Scatter(all, call->count, MPI_INT64_T, in_place ? MPI_IN_PLACE : mine, call->count, MPI_INT64_T, call->root,
                comm);
    right = in_place || values_are(mine, call, value_at(rank, 0) + call->salt, 1);
  } else {
    MPI_Gather(in_place ? MPI_IN_PLACE : mine, call->count, MPI_INT64_T, all, call->count, MPI_INT64_T, call->root,
               comm);
  }
  for (int r = 0; is_root && r < size; r++)
    right = right && values_are(all + (size_t)r * count, call, value_at(r, 0) + call->salt, 1);
  right = right && guarded_intact(all, all_bytes) && guarded_intact(mine, count * 8);
  guarded_free(all);
  guarded_free(mine);
  return right;
}

/* Of those in which every rank has a block for every other: the elements are value_at(r, i) + salt of the rank r from
 * which they come, in a reduce_scatter summed up. */
static inline bool run_exchange(MPI_Comm comm, const Call* call, int rank, int size) {
  const bool reduces = call->collective == kReduceScatter, gathers = call->collective == kAllgather;
  const int count = call->count;
  const size_t one = (size_t)count * 8, all = one * (size_t)size;
  int64_t* input = guarded_new(gathers ? one : all);
  int64_t* output = guarded_new(all);
  int64_t* const own = call->in_place ? output + (gathers ? (size_t)rank * (size_t)count : 0) : input;
  for (int r = 0; r < (gathers ? 1 : size); r++)
    for (int i = 0; i < count; i++) own[(size_t)r * (size_t)count + (size_t)i] = value_at(rank, i) + call->salt;
  const void* send = call->in_place ? MPI_IN_PLACE : input;
  if (reduces)
    MPI_Reduce_scatter_block(send, output, count, MPI_INT64_T, MPI_SUM, comm);
  else if (gathers)
    MPI_Allgather(send, count, MPI_INT64_T, output, count, MPI_INT64_T, comm);
  else
    MPI_Alltoall(send, count, MPI_INT64_T, output, count, MPI_INT64_T, comm);
  bool right = !reduces || values_are(output, call, sum_at(size, 0) + (int64_t)size * call->salt, size);
  for (int r = 0; r < size && !reduces; r++)
    right = right && values_are(output + (size_t)r * (size_t)count, call, value_at(r, 0) + call->salt, 1);
  right = right && guarded_intact(input, gathers ? one : all) && guarded_intact(output, all);
  guarded_free(input);
  guarded_free(output);
  return right;
}

/* Contributions are value_at(rank, i) + salt, rank being the one in `comm`. */
static inline void run_call(MPI_Comm comm, const Call* call) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t bytes = (size_t)call->count * 8;
  int64_t* data = guarded_new(bytes);
  int64_t* result = guarded_new(bytes);
  const bool in_place = call->in_place && (call->collective == kAllreduce || rank == call->root);
  for (int i = 0; i < call->count; i++) data[i] = value_at(rank, i) + call->salt;
  if (in_place) memcpy(result, data, bytes);
  const void* send = in_place ? MPI_IN_PLACE : data;
  const int64_t first_sum = sum_at(size, 0) + (int64_t)size * call->salt;
  bool right = true;
  if (call->collective == kAllreduce) {
    MPI_Allreduce(send, result, call->count, MPI_INT64_T, MPI_SUM, comm);
    right = values_are(result, call, first_sum, size);
  } else if (call->collective == kReduce) {
    MPI_Reduce(send, result, call->count, MPI_INT64_T, MPI_SUM, call->root, comm);
    right = rank != call->root || values_are(result, call, first_sum, size);
  } else if (call->collective == kBcast) {
    MPI_Bcast(data, call->count, MPI_INT64_T, call->root, comm);
    right = values_are(data, call, value_at(call->root, 0) + call->salt, 1);
  } else if (call->collective == kBarrier) {
    MPI_Barrier(comm);
  } else if (call->collective == kScatter || call->collective == kGather) {
    right = run_blocks(comm, call, rank, size);
  } else {
    right = run_exchange(comm, call, rank, size);
  }
  CHECK(right, "collective %d count %d root %d salt %d on %d ranks: wrong result", call->collective, call->count,
        call->root, call->salt, size);
  CHECK(guarded_intact(data, bytes) && guarded_intact(result, bytes), "collective %d: wrote beyond", call->collective);
  guarded_free(data);
  guarded_free(result);
}

static const char* const kCollectiveNames[] = {
    "allreduce", "reduce", "bcast", "barrier", "scatter", "gather", "allgather", "reduce_scatter_block", "alltoall"};

/* While the algorithms of one collective have their turn, the others need not be called with each. */
static inline bool is_in_turn(int collective) {
  return check_algorithm == NULL || is_thorough() || strcmp(check_collective, kCollectiveNames[collective]) == 0;
}

/* Every collective, a few counts, every root. */
static inline void run_every_call(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  const int counts[] = {1, 100, 20011};
  for (int collective = 0; collective < kCollectives; collective++)
    for (int c = 0; c < 3 && is_in_turn(collective); c++)
      for (int root = 0; root < size; root++) {
        const Call call = {collective, counts[c], root, 17 * c + root, root % 2 == 0};
        run_call(comm, &call);
      }
}

/* A call drawn from `state`, which must be alike on all ranks of a communicator of `size` ranks. */
static inline Call random_call(uint32_t* state, int size) {
  const uint32_t sizes[] = {1, 2, 60, 700, 5000, 40000};
  Call call;
  call.collective = (int)(random_next(state) % kCollectives);
  call.count = (int)(random_next(state) % sizes[random_next(state) % 6]);
  call.root = (int)(random_next(state) % (uint32_t)size);
  call.salt = (int)(random_next(state) % 1000);
  call.in_place = random_next(state) % 2 == 0;
  return call;
}

#endif
