/* MPI_Scatter and MPI_Scatterv. */
#include "blocks.h"

static int scatter(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root) {
  return MPI_Scatter(all, count, all_type, own, count, own_type, root, MPI_COMM_WORLD);
}

static int scatterv(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                    MPI_Datatype own_type, int root) {
  return MPI_Scatterv(all, counts, displacements, all_type, own, count, own_type, root, MPI_COMM_WORLD);
}

static void run_checks(void) {
  const BlockCalls calls = {"scatter", "scatterv", true, &scatter, &scatterv};
  blocks_run_all(&calls);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
