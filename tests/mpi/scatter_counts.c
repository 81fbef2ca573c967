/* MPI_Scatter and MPI_Scatterv: every count and root, in place too; types that differ between the root and the others.
 */
#include "blocks.h"

static void run_equal(int count, int root, bool in_place) {
  const bool is_root = world_rank == root;
  const size_t block_bytes = (size_t)count * sizeof(int32_t);
  const size_t all_bytes = is_root ? block_bytes * (size_t)world_size : 0;
  int32_t* all = guarded_new(all_bytes);
  int32_t* mine = guarded_new(block_bytes);
  for (int rank = 0; is_root && rank < world_size; rank++) blocks_fill(all + (size_t)rank * (size_t)count, rank, count);
  void* to = is_root && in_place ? MPI_IN_PLACE : mine;
  const int code = MPI_Scatter(is_root ? all : NULL, count, MPI_INT32_T, to, count, MPI_INT32_T, root, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "count %d root %d: code %d", count, root, code);
  if (count > 0) check_forced("scatter", block_bytes);
  if (is_root && in_place) {
    CHECK(guarded_untouched(mine, block_bytes), "count %d root %d in place: wrote elsewhere", count, root);
  } else {
    CHECK(blocks_wrong(mine, world_rank, count) == 0, "count %d root %d: wrong elements", count, root);
  }
  for (int rank = 0; is_root && rank < world_size; rank++)
    CHECK(blocks_wrong(all + (size_t)rank * (size_t)count, rank, count) == 0, "count %d: the root's data changed",
          count);
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
  for (int rank = 0; is_root && rank < world_size; rank++) blocks_fill(all + displacements[rank], rank, counts[rank]);
  void* to = is_root && in_place ? MPI_IN_PLACE : mine;
  MPI_Scatterv(is_root ? all : NULL, is_root ? counts : NULL, is_root ? displacements : NULL, MPI_INT32_T, to, own,
               MPI_INT32_T, root, MPI_COMM_WORLD);
  check_forced("scatterv", 0);
  if (!(is_root && in_place)) CHECK(blocks_wrong(mine, world_rank, own) == 0, "lengths, count %d root %d", count, root);
  CHECK(guarded_intact(mine, (size_t)own * sizeof(int32_t)), "lengths, count %d: wrote beyond the end", count);
  if (is_root) CHECK(blocks_gaps_intact(all, counts, displacements), "lengths, count %d: changed a gap", count);
  guarded_free(mine);
  guarded_free(all);
}

/* Sparse at the root or at the others; equal signatures. With lengths: the displacements count sparse elements. */
static void run_sparse(int count, int root, bool sparse_root, bool lengths) {
  const bool is_root = world_rank == root;
  const MPI_Datatype sparse = blocks_sparse_int();
  const int from_step = sparse_root ? kStride : 1, to_step = sparse_root ? 1 : kStride;
  int counts[64], displacements[64];
  for (int rank = 0; rank < world_size; rank++) {
    counts[rank] = lengths ? count + rank : count;
    displacements[rank] = rank == 0 ? 0 : displacements[rank - 1] + counts[rank - 1];
  }
  const int total = displacements[world_size - 1] + counts[world_size - 1], own = counts[world_rank];
  int32_t* all = guarded_new((size_t)(is_root ? total * from_step : 0) * sizeof(int32_t));
  int32_t* mine = guarded_new((size_t)(own * to_step) * sizeof(int32_t));
  for (int rank = 0; is_root && rank < world_size; rank++)
    for (int i = 0; i < counts[rank]; i++) all[(displacements[rank] + i) * from_step] = (int32_t)value_at(rank, i);
  const MPI_Datatype from = sparse_root ? sparse : MPI_INT32_T, to = sparse_root ? MPI_INT32_T : sparse;
  if (lengths)
    MPI_Scatterv(all, counts, displacements, from, mine, own, to, root, MPI_COMM_WORLD);
  else
    MPI_Scatter(all, count, from, mine, count, to, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < own; i++) {
    wrong += mine[i * to_step] != (int32_t)value_at(world_rank, i);
    wrong += to_step > 1 && !guarded_untouched(&mine[i * to_step + 1], (kStride - 1) * sizeof(int32_t));
  }
  CHECK(wrong == 0, "sparse root %d lengths %d count %d root %d: %d wrong", sparse_root, lengths, count, root, wrong);
  CHECK(guarded_intact(mine, (size_t)(own * to_step) * sizeof(int32_t)), "sparse, count %d: beyond the end", count);
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
