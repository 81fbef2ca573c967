/* MPI_Gather and MPI_Gatherv. */
#include "blocks.h"

static int gather(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root) {
  return MPI_Gather(own, count, own_type, all, count, all_type, root, MPI_COMM_WORLD);
}

static int gatherv(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                   MPI_Datatype own_type, int root) {
  return MPI_Gatherv(own, count, own_type, all, counts, displacements, all_type, root, MPI_COMM_WORLD);
}

/* The root's own data lie where its buffer for all begins, and belong behind: nothing overlaps. */
static void own_data_in_front(void) {
  enum { kEach = 700 };
  const int root = world_size / 2;
  const size_t bytes = (size_t)(world_size + 1) * kEach * sizeof(int64_t);
  int64_t* data = guarded_new(bytes);
  int* counts = malloc((size_t)world_size * sizeof *counts);
  int* displacements = malloc((size_t)world_size * sizeof *displacements);
  for (int r = 0; r < world_size; r++) counts[r] = kEach, displacements[r] = (r + 1) * kEach;
  for (int i = 0; i < kEach; i++) data[i] = value_at(world_rank, i);
  MPI_Gatherv(data, kEach, MPI_INT64_T, data, counts, displacements, MPI_INT64_T, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < kEach; i++) {
    wrong += data[i] != value_at(world_rank, i);
    for (int r = 0; world_rank == root && r < world_size; r++) wrong += data[(r + 1) * kEach + i] != value_at(r, i);
  }
  CHECK(wrong == 0, "gatherv of data in front of all: %d wrong", wrong);
  CHECK(guarded_intact(data, bytes), "gatherv of data in front of all: wrote beyond");
  free(counts);
  free(displacements);
  guarded_free(data);
}

static void run_checks(void) {
  own_data_in_front();
  const BlockCalls calls = {"gather", "gatherv", false, &gather, &gatherv};
  blocks_run_all(&calls);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
