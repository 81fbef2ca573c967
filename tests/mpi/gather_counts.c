/* MPI_Gather and MPI_Gatherv: every count and root, in place too; types that differ between the root and the others. */
#include "blocks.h"

static void run_equal(int count, int root, bool in_place) {
  const bool is_root = world_rank == root;
  const size_t block_bytes = (size_t)count * sizeof(int32_t);
  const size_t all_bytes = is_root ? block_bytes * (size_t)world_size : 0;
  int32_t* all = guarded_new(all_bytes);
  int32_t* mine = guarded_new(block_bytes);
  blocks_fill(mine, world_rank, count);
  const void* from = mine;
  if (is_root && in_place) {
    blocks_fill(all + (size_t)world_rank * (size_t)count, world_rank, count);
    from = MPI_IN_PLACE;
  }
  const int code = MPI_Gather(from, count, MPI_INT32_T, is_root ? all : NULL, count, MPI_INT32_T, root, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "count %d root %d: code %d", count, root, code);
  if (count > 0) check_forced("gather", block_bytes);
  for (int rank = 0; is_root && rank < world_size; rank++)
    CHECK(blocks_wrong(all + (size_t)rank * (size_t)count, rank, count) == 0, "count %d root %d: wrong from rank %d",
          count, root, rank);
  CHECK(blocks_wrong(mine, world_rank, count) == 0, "count %d root %d: own data changed", count, root);
  CHECK(guarded_intact(mine, block_bytes) && guarded_intact(all, all_bytes), "count %d: wrote beyond the end", count);
  guarded_free(mine);
  guarded_free(all);
}

static void run_lengths(int count, int root, bool in_place) {
  const bool is_root = world_rank == root;
  int counts[64], displacements[64];
  const size_t all_bytes = (size_t)blocks_lay_out(count, counts, displacements) * sizeof(int32_t);
  const int own = counts[world_rank];
  int32_t* all = guarded_new(is_root ? all_bytes : 0);
  int32_t* mine = guarded_new((size_t)own * sizeof(int32_t));
  blocks_fill(mine, world_rank, own);
  const void* from = mine;
  if (is_root && in_place) {
    blocks_fill(all + displacements[world_rank], world_rank, own);
    from = MPI_IN_PLACE;
  }
  MPI_Gatherv(from, own, MPI_INT32_T, is_root ? all : NULL, is_root ? counts : NULL, is_root ? displacements : NULL,
              MPI_INT32_T, root, MPI_COMM_WORLD);
  check_forced("gatherv", 0);
  for (int rank = 0; is_root && rank < world_size; rank++)
    CHECK(blocks_wrong(all + displacements[rank], rank, counts[rank]) == 0,
          "lengths, count %d root %d: wrong from rank %d", count, root, rank);
  if (is_root) {
    CHECK(blocks_gaps_intact(all, counts, displacements), "lengths, count %d: wrote into a gap", count);
    CHECK(guarded_intact(all, all_bytes), "lengths, count %d: wrote beyond the end", count);
  }
  guarded_free(mine);
  guarded_free(all);
}

/* Sparse at the root or at the others; equal signatures. With lengths: the displacements count sparse elements. */
static void run_sparse(int count, int root, bool sparse_root, bool lengths) {
  const bool is_root = world_rank == root;
  const MPI_Datatype sparse = blocks_sparse_int();
  const int from_step = sparse_root ? 1 : kStride, to_step = sparse_root ? kStride : 1;
  int counts[64], displacements[64];
  for (int rank = 0; rank < world_size; rank++) {
    counts[rank] = lengths ? count + rank : count;
    displacements[rank] = rank == 0 ? 0 : displacements[rank - 1] + counts[rank - 1];
  }
  const int total = displacements[world_size - 1] + counts[world_size - 1], own = counts[world_rank];
  const size_t all_bytes = (size_t)(is_root ? total * to_step : 0) * sizeof(int32_t);
  int32_t* all = guarded_new(all_bytes);
  int32_t* mine = guarded_new((size_t)(own * from_step) * sizeof(int32_t));
  for (int i = 0; i < own; i++) mine[i * from_step] = (int32_t)value_at(world_rank, i);
  const MPI_Datatype from = sparse_root ? MPI_INT32_T : sparse, to = sparse_root ? sparse : MPI_INT32_T;
  if (lengths)
    MPI_Gatherv(mine, own, from, all, counts, displacements, to, root, MPI_COMM_WORLD);
  else
    MPI_Gather(mine, count, from, all, count, to, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int rank = 0; is_root && rank < world_size; rank++)
    for (int i = 0; i < counts[rank]; i++) {
      const int32_t* element = &all[(displacements[rank] + i) * to_step];
      wrong += *element != (int32_t)value_at(rank, i);
      wrong += to_step > 1 && !guarded_untouched(element + 1, (kStride - 1) * sizeof(int32_t));
    }
  CHECK(wrong == 0, "sparse root %d lengths %d count %d root %d: %d wrong", sparse_root, lengths, count, root, wrong);
  CHECK(guarded_intact(all, all_bytes), "sparse, count %d root %d: wrote beyond the end", count, root);
  MPI_Datatype done = sparse;
  MPI_Type_free(&done);
  guarded_free(mine);
  guarded_free(all);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  blocks_run_all(&run_equal, &run_lengths, &run_sparse);
  return finish();
}
