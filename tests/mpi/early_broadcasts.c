/* The root of 64 small broadcasts waits for nobody: each receiver comes only when the root has told it that it is
 * through. MPI does not promise that, but programs get used to it, as every library's small broadcasts are so. */
#include "check.h"

static void broadcasts(int values) {
  int data[256];
  const int root = world_size - 1;
  for (int call = 0; call < 64; call++) {
    if (world_rank != root && call == 0) MPI_Recv(NULL, 0, MPI_BYTE, root, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < values; i++) data[i] = world_rank == root ? 1000 * call + i : -1;
    MPI_Bcast(data, values, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < values; i++) CHECK(data[i] == 1000 * call + i, "broadcast %d: [%d] is %d", call, i, data[i]);
  }
  for (int rank = 0; world_rank == root && rank < root; rank++) MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int first = 1;
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD); /* what a communicator needs is made in its first call, by all */
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 3; round++) {
    broadcasts(1);
    broadcasts(256);
  }
  check_forced("bcast", 4);
  return finish();
}
