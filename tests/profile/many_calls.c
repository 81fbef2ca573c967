/* Barriers, and what the first argument asks for:
 *   count N      N of them
 *   control N    N recorded, N after MPI_Pcontrol(0), N after MPI_Pcontrol(1)
 *   fresh N      N, one more on each of N communicators that live for it alone, whose name is not UTF-8
 *   killed N     N, then rank 1 is killed outside MPI while the others wait in an allreduce */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../settle.h"

static void barriers(int count) {
  for (int i = 0; i < count; i++) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 2 ? argv[1] : "count";
  const int count = argc > 2 ? atoi(argv[2]) : 10;
  barriers(count);
  if (strcmp(what, "control") == 0) {
    MPI_Pcontrol(0);
    barriers(count);
    MPI_Pcontrol(1);
    barriers(count);
  }
  for (int i = 0; strcmp(what, "fresh") == 0 && i < count; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "Z\xfcrich");
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
  if (strcmp(what, "killed") == 0) {
    if (rank == 1) raise(SIGKILL);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  settle();
  MPI_Finalize();
  return 0;
}
