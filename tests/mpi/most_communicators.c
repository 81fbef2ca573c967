/* How many communicators a program can have that calls a collective on each: prints "had N", with N up to the argument.
 * Where there are no more, MPI_ERRORS_RETURN tells the program so, and it goes on. */
#include "collectives.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_started();
  const int wanted = atoi(argv[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm* comms = malloc(sizeof *comms * (size_t)wanted);
  int had = 0;
  while (had < wanted && MPI_Comm_dup(MPI_COMM_WORLD, &comms[had]) == MPI_SUCCESS) {
    int sum = 1;
    MPI_Comm_set_errhandler(comms[had], MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comms[had]);
    CHECK(sum == world_size, "communicator %d: the sum is %d", had, sum);
    had++;
  }
  if (world_rank == 0) printf("had %d\n", had);
  for (int i = 0; i < had; i++) MPI_Comm_free(&comms[i]);
  free(comms);
  return finish();
}
