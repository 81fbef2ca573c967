/* Lateness that is known: rank 3 comes 20 ms late to every third allreduce, rank 1 comes 5 ms late to every broadcast.
 * Arguments: rounds. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void sleep_until_after(double begin, double seconds) {
  const double end = begin + seconds;
  while (MPI_Wtime() < end) {
    const struct timespec step = {0, (long)((end - MPI_Wtime()) * 1e9) > 0 ? (long)((end - MPI_Wtime()) * 9e8) : 0};
    nanosleep(&step, NULL);
  }
}

__attribute__((noinline)) static void reduce_gradients(double* values) {
  MPI_Allreduce(MPI_IN_PLACE, values, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void share_parameters(double* values) {
  MPI_Bcast(values, 16, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  double values[16] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  for (int round = 0; round < rounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 3 && round % 3 == 0) sleep_until_after(MPI_Wtime(), 0.020);
    reduce_gradients(values);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) sleep_until_after(MPI_Wtime(), 0.005);
    share_parameters(values);
  }
  MPI_Finalize();
  return 0;
}
