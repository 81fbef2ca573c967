/* Allgather, reduce_scatter and alltoall in any of their forms: every count, in place too; lengths of their own for
 * each rank; types that differ between ranks. A buffer is right if it is, byte for byte, the image of the blocks in it,
 * what lies between them included. */
#ifndef STRETTO_TESTS_EXCHANGES_H
#define STRETTO_TESTS_EXCHANGES_H

#include "blocks.h"

/* The functions of one form: MPI_X; or MPI_IX, or MPI_X_init with MPI_Start, and MPI_Wait; or MPI_X_c. */
typedef struct {
  const char* prefix; /* of the collective's name, where the environment and Stretto have one: "" or "i" */
  int (*allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*allgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm);
  int (*reduce_scatter_block)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*reduce_scatter)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*alltoallv)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                   MPI_Comm);
} ExchangeCalls;

enum { kMostElements = 1000000 }; /* in the blocks of all ranks */

static inline void exchanges_check_ran(const ExchangeCalls* calls, const char* collective, int code, size_t bytes) {
  char name[64];
  snprintf(name, sizeof name, "%s%s", calls->prefix, collective);
  CHECK(code == MPI_SUCCESS, "%s: code %d", name, code);
  check_forced(name, bytes);
}

static inline size_t exchanges_bytes(const BlockLayout* layout, int step) {
  return (size_t)layout->total * (size_t)step * sizeof(int32_t);
}

static inline void exchanges_allgather(const ExchangeCalls* calls, const BlockLayout* layout, bool in_place) {
  const int count = layout->counts[world_rank];
  const size_t all_bytes = exchanges_bytes(layout, layout->all_step);
  const size_t own_bytes = in_place ? 0 : (size_t)count * (size_t)layout->own_step * sizeof(int32_t);
  int32_t* all = guarded_new(all_bytes);
  int32_t* expected = guarded_new(all_bytes);
  int32_t* own = guarded_new(own_bytes);
  for (int rank = 0; rank < world_size; rank++) blocks_fill_at(expected, layout, rank);
  if (in_place) blocks_fill_at(all, layout, world_rank);
  if (!in_place) blocks_fill(own, world_rank, count, layout->own_step);
  MPI_Datatype sparse = blocks_sparse_int();
  const MPI_Datatype all_type = layout->all_step == 1 ? MPI_INT32_T : sparse;
  const MPI_Datatype own_type = layout->own_step == 1 ? MPI_INT32_T : sparse;
  const void* const input = in_place ? MPI_IN_PLACE : own;
  const int code = layout->lengths ? calls->allgatherv(input, count, own_type, all, layout->counts,
                                                       layout->displacements, all_type, MPI_COMM_WORLD)
                                   : calls->allgather(input, count, own_type, all, count, all_type, MPI_COMM_WORLD);
  if (layout->lengths || count > 0)
    exchanges_check_ran(calls, layout->lengths ? "allgatherv" : "allgather", code, all_bytes);
  CHECK(memcmp(all, expected, all_bytes) == 0, "allgather of %d, lengths %d, steps %d and %d, in place %d: wrong",
        count, layout->lengths, layout->all_step, layout->own_step, in_place);
  CHECK(guarded_intact(all, all_bytes) && guarded_intact(own, own_bytes), "allgather of %d: wrote beyond", count);
  MPI_Type_free(&sparse);
  guarded_free(all);
  guarded_free(expected);
  guarded_free(own);
}

/* Associative, and does not commute. */
static inline void exchanges_keep_first(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * sizeof(int32_t));
}

static inline void exchanges_reduce_scatter(const ExchangeCalls* calls, const BlockLayout* layout, bool in_place,
                                            bool keep_first) {
  const int count = layout->counts[world_rank];
  int total = 0, first = 0;
  for (int rank = 0; rank < world_size; rank++) {
    if (rank == world_rank) first = total;
    total += layout->counts[rank];
  }
  const size_t all_bytes = (size_t)total * sizeof(int32_t), own_bytes = (size_t)count * sizeof(int32_t);
  int32_t* all = guarded_new(all_bytes);
  int32_t* own = guarded_new(own_bytes);
  for (int i = 0; i < total; i++) all[i] = small_value_at(world_rank, i);
  const void* const input = in_place ? MPI_IN_PLACE : all;
  int32_t* const output = in_place ? all : own;
  MPI_Op op = MPI_SUM;
  if (keep_first) MPI_Op_create(exchanges_keep_first, 0, &op);
  const int code = layout->lengths
                       ? calls->reduce_scatter(input, output, layout->counts, MPI_INT32_T, op, MPI_COMM_WORLD)
                       : calls->reduce_scatter_block(input, output, count, MPI_INT32_T, op, MPI_COMM_WORLD);
  if (keep_first) {
    MPI_Op_free(&op);
  } else if (total > 0) {
    exchanges_check_ran(calls, layout->lengths ? "reduce_scatter" : "reduce_scatter_block", code, own_bytes);
  }
  int wrong = 0;
  for (int i = 0; i < count; i++) {
    const int32_t right = keep_first ? small_value_at(0, first + i) : small_sum_at(world_size, first + i);
    wrong += output[i] != right;
  }
  for (int i = 0; i < total && !in_place; i++) wrong += all[i] != small_value_at(world_rank, i);
  CHECK(wrong == 0, "reduce_scatter of %d, lengths %d, in place %d, ordered %d: %d wrong", count, layout->lengths,
        in_place, keep_first, wrong);
  CHECK(guarded_intact(all, all_bytes) && guarded_intact(own, own_bytes), "reduce_scatter of %d: wrote beyond", count);
  guarded_free(all);
  guarded_free(own);
}

/* What goes from one rank to another. */
static inline void exchanges_fill(int32_t* block, int from, int to, int count, int step) {
  for (int i = 0; i < count; i++) block[i * step] = (from * kMostRanks + to) * 200000 + i;
}

/* Lengths that differ from pair to pair of ranks; in place two ranks have as much for each other. */
static inline BlockLayout exchanges_lengths(int count, bool outgoing, bool in_place) {
  BlockLayout layout = {.lengths = true, .total = kGapElements, .all_step = 1, .own_step = 1};
  for (int rank = world_size - 1; rank >= 0; rank--) {
    const int uneven = rank + world_rank + (in_place ? 0 : (outgoing ? world_rank : rank));
    layout.counts[rank] = (count + 3 * uneven) % (2 * count + 1);
    layout.displacements[rank] = layout.total;
    layout.total += layout.counts[rank] + kGapElements;
  }
  return layout;
}

static inline void exchanges_alltoall(const ExchangeCalls* calls, const BlockLayout* out, const BlockLayout* in,
                                      bool in_place) {
  const size_t out_bytes = in_place ? 0 : exchanges_bytes(out, out->all_step);
  const size_t in_bytes = exchanges_bytes(in, in->all_step);
  int32_t* input = guarded_new(out_bytes);
  int32_t* output = guarded_new(in_bytes);
  int32_t* expected = guarded_new(in_bytes);
  int32_t* const source = in_place ? output : input;
  for (int rank = 0; rank < world_size; rank++) {
    exchanges_fill(source + out->displacements[rank] * out->all_step, world_rank, rank, out->counts[rank],
                   out->all_step);
    exchanges_fill(expected + in->displacements[rank] * in->all_step, rank, world_rank, in->counts[rank], in->all_step);
  }
  MPI_Datatype sparse = blocks_sparse_int();
  const MPI_Datatype out_type = out->all_step == 1 ? MPI_INT32_T : sparse;
  const MPI_Datatype in_type = in->all_step == 1 ? MPI_INT32_T : sparse;
  const void* const sent = in_place ? MPI_IN_PLACE : input;
  const int code =
      out->lengths ? calls->alltoallv(sent, out->counts, out->displacements, out_type, output, in->counts,
                                      in->displacements, in_type, MPI_COMM_WORLD)
                   : calls->alltoall(sent, out->counts[0], out_type, output, in->counts[0], in_type, MPI_COMM_WORLD);
  if (out->lengths || out->counts[0] > 0)
    exchanges_check_ran(calls, out->lengths ? "alltoallv" : "alltoall", code, in_bytes);
  CHECK(memcmp(output, expected, in_bytes) == 0, "alltoall of %d, lengths %d, steps %d and %d, in place %d: wrong",
        in->counts[0], out->lengths, out->all_step, in->all_step, in_place);
  CHECK(guarded_intact(input, out_bytes) && guarded_intact(output, in_bytes), "alltoall of %d: wrote beyond",
        in->counts[0]);
  MPI_Type_free(&sparse);
  guarded_free(input);
  guarded_free(output);
  guarded_free(expected);
}

static inline void exchanges_run_count(const ExchangeCalls* calls, const char* collective, int count, bool in_place) {
  const BlockLayout equal = blocks_equal(count);
  BlockLayout lengths = blocks_with_lengths(count);
  const BlockLayout out = exchanges_lengths(count, true, in_place), in = exchanges_lengths(count, false, in_place);
  if (strncmp(collective, "allgather", strlen("allgather")) == 0) {
    exchanges_allgather(calls, &equal, in_place);
    exchanges_allgather(calls, &lengths, in_place);
  } else if (strncmp(collective, "reduce_scatter", strlen("reduce_scatter")) == 0) {
    /* In place not longer than the one before: else MPICH 4.0 copies between memory that overlaps, and says so. */
    for (int rank = 0; rank < world_size && in_place; rank++) lengths.counts[rank] = count > rank ? count - rank : 0;
    for (int keep_first = 0; keep_first < 2; keep_first++) {
      exchanges_reduce_scatter(calls, &equal, in_place, keep_first);
      exchanges_reduce_scatter(calls, &lengths, in_place, keep_first);
    }
  } else {
    exchanges_alltoall(calls, &equal, &equal, in_place);
    exchanges_alltoall(calls, &out, &in, in_place);
  }
}

/* Ranks describe the same bytes each in its own way. */
static inline void exchanges_run_sparse(const ExchangeCalls* calls, const char* collective, bool lengths) {
  const bool odd = world_rank % 2 == 1;
  if (strncmp(collective, "allgather", strlen("allgather")) == 0) {
    const BlockLayout sparse = blocks_sparse(300, odd, lengths);
    exchanges_allgather(calls, &sparse, false);
    exchanges_allgather(calls, &sparse, true);
  } else if (strncmp(collective, "alltoall", strlen("alltoall")) == 0) {
    BlockLayout out = blocks_equal(200), in = out;
    out.lengths = in.lengths = lengths;
    out.all_step = odd ? kStride : 1;
    in.all_step = odd ? 1 : kStride;
    exchanges_alltoall(calls, &out, &in, false);
    exchanges_alltoall(calls, &in, &in, true);
  }
}

/* `collective` with and without lengths, whichever of the two it names. */
static inline void exchanges_run_all(const ExchangeCalls* calls, const char* collective) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++) {
    if ((int64_t)counts[c] * world_size > kMostElements) continue;
    exchanges_run_count(calls, collective, counts[c], false);
    exchanges_run_count(calls, collective, counts[c], true);
  }
  exchanges_run_sparse(calls, collective, false);
  exchanges_run_sparse(calls, collective, true);
}

static const ExchangeCalls kBlockingExchanges = {
    "", &MPI_Allgather, &MPI_Allgatherv, &MPI_Reduce_scatter_block, &MPI_Reduce_scatter, &MPI_Alltoall, &MPI_Alltoallv};

#endif
