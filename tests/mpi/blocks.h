/* Scatter and gather, which differ in the direction only: every count and root, in place too; lengths of their own for
 * each rank; types that differ between the root and the others. A buffer is right if it is, byte for byte, the image
 * of the blocks in it, what lies between them included. */
#ifndef STRETTO_TESTS_BLOCKS_H
#define STRETTO_TESTS_BLOCKS_H

#include "check.h"

enum { kGapElements = 2, kStride = 3, kMostRanks = 64 };

/* Blocks of int32 elements, one for each rank. */
typedef struct {
  bool lengths;                                      /* of their own for each rank */
  int counts[kMostRanks], displacements[kMostRanks]; /* in elements */
  int total;                                         /* elements of all, gaps included */
  int all_step, own_step;                            /* ints from an element to the next: kStride where sparse */
} BlockLayout;

/* The two calls that are tested. `all` has the blocks of all ranks and is there at the root only, as are the lengths.
 */
typedef struct {
  const char* name;
  const char* name_with_lengths;
  bool scatters;
  int (*equal)(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root);
  int (*lengths)(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                 MPI_Datatype own_type, int root);
} BlockCalls;

static inline BlockLayout blocks_equal(int count) {
  BlockLayout layout = {.total = count * world_size, .all_step = 1, .own_step = 1};
  for (int rank = 0; rank < world_size; rank++) {
    layout.counts[rank] = count;
    layout.displacements[rank] = rank * count;
  }
  return layout;
}

/* Lengths from nothing to 2 x count; blocks lie in the reverse order of ranks, with gaps. */
static inline BlockLayout blocks_with_lengths(int count) {
  BlockLayout layout = {.lengths = true, .total = kGapElements, .all_step = 1, .own_step = 1};
  for (int rank = world_size - 1; rank >= 0; rank--) {
    layout.counts[rank] = (count + 3 * rank) % (2 * count + 1);
    layout.displacements[rank] = layout.total;
    layout.total += layout.counts[rank] + kGapElements;
  }
  return layout;
}

/* Sparse at the root or at the others; equal signatures. With lengths: the displacements count sparse elements. */
static inline BlockLayout blocks_sparse(int count, bool sparse_root, bool lengths) {
  BlockLayout layout = blocks_equal(count);
  layout.lengths = lengths;
  layout.all_step = sparse_root ? kStride : 1;
  layout.own_step = sparse_root ? 1 : kStride;
  for (int rank = 0; lengths && rank < world_size; rank++) {
    layout.counts[rank] = count + rank;
    layout.displacements[rank] = rank == 0 ? 0 : layout.displacements[rank - 1] + layout.counts[rank - 1];
    layout.total = layout.displacements[rank] + layout.counts[rank];
  }
  return layout;
}

/* One int of every three; its extent is three ints, so that blocks of it follow each other without overlap. */
static inline MPI_Datatype blocks_sparse_int(void) {
  MPI_Datatype sparse;
  MPI_Type_create_resized(MPI_INT32_T, 0, kStride * sizeof(int32_t), &sparse);
  MPI_Type_commit(&sparse);
  return sparse;
}

static inline void blocks_fill(int32_t* block, int rank, int count, int step) {
  for (int i = 0; i < count; i++) block[i * step] = (int32_t)value_at(rank, i);
}

static inline void blocks_fill_at(int32_t* all, const BlockLayout* layout, int rank) {
  blocks_fill(all + (size_t)layout->displacements[rank] * (size_t)layout->all_step, rank, layout->counts[rank],
              layout->all_step);
}

static inline void blocks_call(const BlockCalls* calls, const BlockLayout* layout, int32_t* all, int32_t* own, int root,
                               bool in_place) {
  const bool is_root = world_rank == root, plain = layout->all_step == 1 && layout->own_step == 1;
  const int count = layout->counts[world_rank];
  MPI_Datatype sparse = blocks_sparse_int();
  const MPI_Datatype all_type = layout->all_step == 1 ? MPI_INT32_T : sparse;
  const MPI_Datatype own_type = layout->own_step == 1 ? MPI_INT32_T : sparse;
  void* const root_all = is_root ? all : NULL;
  void* const own_or_not = is_root && in_place ? MPI_IN_PLACE : own;
  const int code = layout->lengths ? calls->lengths(root_all, is_root ? layout->counts : NULL,
                                                    is_root ? layout->displacements : NULL, all_type, own_or_not, count,
                                                    own_type, root)
                                   : calls->equal(root_all, all_type, own_or_not, count, own_type, root);
  CHECK(code == MPI_SUCCESS, "code %d", code);
  if (plain && (layout->lengths || count > 0))
    check_forced(layout->lengths ? calls->name_with_lengths : calls->name, (size_t)count * sizeof *own);
  MPI_Type_free(&sparse);
}

static inline void blocks_run(const BlockCalls* calls, const BlockLayout* layout, int root, bool in_place) {
  const bool is_root = world_rank == root, without_own = is_root && in_place;
  const int count = layout->counts[world_rank];
  const size_t all_bytes = is_root ? (size_t)layout->total * (size_t)layout->all_step * sizeof(int32_t) : 0;
  const size_t own_bytes = (size_t)count * (size_t)layout->own_step * sizeof(int32_t);
  int32_t* all = guarded_new(all_bytes);
  int32_t* all_expected = guarded_new(all_bytes);
  int32_t* own = guarded_new(own_bytes);
  int32_t* own_expected = guarded_new(own_bytes);
  for (int rank = 0; is_root && rank < world_size; rank++) {
    blocks_fill_at(all_expected, layout, rank);
    if (calls->scatters || (in_place && rank == root)) blocks_fill_at(all, layout, rank);
  }
  if (!without_own) {
    blocks_fill(own_expected, world_rank, count, layout->own_step);
    if (!calls->scatters) blocks_fill(own, world_rank, count, layout->own_step);
  }
  blocks_call(calls, layout, all, own, root, in_place);
  const char* const name = layout->lengths ? calls->name_with_lengths : calls->name;
  CHECK(memcmp(all, all_expected, all_bytes) == 0, "%s of %d, steps %d and %d, root %d: wrong at the root", name,
        layout->counts[0], layout->all_step, layout->own_step, root);
  CHECK(memcmp(own, own_expected, own_bytes) == 0, "%s of %d, steps %d and %d, root %d: wrong own block", name, count,
        layout->all_step, layout->own_step, root);
  CHECK(guarded_intact(all, all_bytes) && guarded_intact(own, own_bytes), "%s of %d, root %d: wrote beyond the end",
        name, count, root);
  guarded_free(all);
  guarded_free(all_expected);
  guarded_free(own);
  guarded_free(own_expected);
}

/* Every root with short blocks, the last with long ones; in place and not. */
static inline void blocks_run_all(const BlockCalls* calls) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++) {
    const BlockLayout equal = blocks_equal(counts[c]), lengths = blocks_with_lengths(counts[c]);
    const int roots = counts[c] > 1000 ? 1 : world_size;
    for (int i = 0; i < roots; i++) {
      const int root = world_size - 1 - i;
      blocks_run(calls, &equal, root, i % 2 == 1);
      blocks_run(calls, &lengths, root, i % 2 == 0);
    }
  }
  for (int root = 0; root < world_size; root++)
    for (int kind = 0; kind < 4; kind++) {
      const BlockLayout sparse = blocks_sparse(300 + root, kind % 2 == 0, kind / 2 == 0);
      blocks_run(calls, &sparse, root, false);
    }
}

#endif
