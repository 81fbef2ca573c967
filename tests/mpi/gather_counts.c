/* MPI_Gather and MPI_Gatherv. */
#include "blocks.h"

static int gather(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root) {
  return MPI_Gather(own, count, own_type, all, count, all_type, root, MPI_COMM_WORLD);
}

static int gatherv(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                   MPI_Datatype own_type, int root) {
  return MPI_Gatherv(own, count, own_type, all, counts, displacements, all_type, root, MPI_COMM_WORLD);
}

static void run_checks(void) {
  const BlockCalls calls = {"gather", "gatherv", false, &gather, &gatherv};
  blocks_run_all(&calls);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
