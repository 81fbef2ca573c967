/* Blocks of scatter and gather: their values, lengths of their own for each rank, and what must have arrived. */
#ifndef STRETTO_TESTS_BLOCKS_H
#define STRETTO_TESTS_BLOCKS_H

#include "check.h"

enum { kGapElements = 2, kStride = 3 };

static inline void blocks_fill(int32_t* block, int rank, int count) {
  for (int i = 0; i < count; i++) block[i] = (int32_t)value_at(rank, i);
}

static inline int blocks_wrong(const int32_t* block, int rank, int count) {
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += block[i] != (int32_t)value_at(rank, i);
  return wrong;
}

/* Lengths from nothing to 2 x count; blocks lie in the reverse order of ranks, with gaps. Returns the elements of all.
 */
static inline int blocks_lay_out(int count, int* counts, int* displacements) {
  int at = kGapElements;
  for (int rank = world_size - 1; rank >= 0; rank--) {
    counts[rank] = (count + 3 * rank) % (2 * count + 1);
    displacements[rank] = at;
    at += counts[rank] + kGapElements;
  }
  return at;
}

/* The gaps between blocks are what guarded_new left there. */
static inline bool blocks_gaps_intact(const int32_t* all, const int* counts, const int* displacements) {
  bool intact = guarded_untouched(all, kGapElements * sizeof *all);
  for (int rank = 0; rank < world_size; rank++)
    intact = intact && guarded_untouched(all + displacements[rank] + counts[rank], kGapElements * sizeof *all);
  return intact;
}

/* One int of every three; its extent is three ints, so that blocks of it follow each other without overlap. */
static inline MPI_Datatype blocks_sparse_int(void) {
  MPI_Datatype sparse;
  MPI_Type_create_resized(MPI_INT32_T, 0, kStride * sizeof(int32_t), &sparse);
  MPI_Type_commit(&sparse);
  return sparse;
}

/* Every root with short blocks, the last with long ones; in place and not. */
static inline void blocks_run_all(void (*equal)(int count, int root, bool in_place),
                                  void (*lengths)(int count, int root, bool in_place),
                                  void (*sparse)(int count, int root, bool sparse_root, bool lengths)) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++) {
    const int roots = counts[c] > 1000 ? 1 : world_size;
    for (int i = 0; i < roots; i++) {
      const int root = world_size - 1 - i;
      equal(counts[c], root, i % 2 == 1);
      lengths(counts[c], root, i % 2 == 0);
    }
  }
  for (int root = 0; root < world_size; root++)
    for (int kind = 0; kind < 4; kind++) sparse(300 + root, root, kind % 2 == 0, kind / 2 == 0);
}

#endif
