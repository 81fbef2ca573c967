/* Long sums on communicators of 2 ranks, of the others and of all, which the ranks meet in different orders. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../settle.h"

enum { kElements = 1 << 18 };

static int sum_is_right(float* values, MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < kElements; i++) values[i] = 1;
  MPI_Allreduce(MPI_IN_PLACE, values, kElements, MPI_FLOAT, MPI_SUM, comm);
  for (int i = 0; i < kElements; i++) {
    if (values[i] != (float)size) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  static float values[kElements];
  int rank;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &part);
  for (int call = 0; call < 16; call++) MPI_Barrier(part); /* the MPI library serves the first calls */
  int right = 1;
  if (rank < 2) right &= sum_is_right(values, part);
  right &= sum_is_right(values, MPI_COMM_WORLD);
  if (rank >= 2) right &= sum_is_right(values, part);
  MPI_Comm_free(&part);
  settle();
  MPI_Finalize();
  if (!right) printf("wrong sum on rank %d\n", rank);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
