/* Two ranks wait for each other, 50 us each in turn. Prints how often rank 0 has yielded its core in 400 broadcasts. */
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long yields;

/* What libraries call is this one, as the program comes first. */
int sched_yield(void) {
  yields++;
  return (int)syscall(SYS_sched_yield);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = 0;
  for (int root = 0; root < 2; root++) MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  const long before = yields;
  for (int turn = 0; turn < 400; turn++) {
    const int root = turn % 2;
    const double begin = MPI_Wtime();
    while (root == rank && MPI_Wtime() - begin < 50e-6) {
    }
    if (root == rank) value = turn;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (value != turn) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) printf("yields %ld\n", yields - before);
  MPI_Finalize();
  return 0;
}
