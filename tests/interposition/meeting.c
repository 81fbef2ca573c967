/* The C half of an MPMD job whose other half is meeting_fortran.f90: both must make the same calls. */
#include "../mpi/check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int counts[] = {1, 5, 3000, 200000};
  for (int round = 0; round < 20; round++) {
    const int count = counts[round % 4], root = round % world_size;
    int* numbers = malloc((size_t)count * sizeof *numbers);
    int* sums = malloc((size_t)count * sizeof *sums);
    for (int i = 0; i < count; i++) numbers[i] = 1000 * world_rank + i + 1 + round;
    MPI_Allreduce(numbers, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < count; i++)
      wrong += sums[i] != 1000 * (world_size * (world_size - 1) / 2) + world_size * (i + 1 + round);
    CHECK(wrong == 0, "round %d: %d sums are wrong", round, wrong);
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(numbers[0] == 1000 * (world_size - 1) + 1 + round, "round %d: maximum %d", round, numbers[0]);
    MPI_Bcast(sums, count, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Reduce(world_rank == root ? MPI_IN_PLACE : sums, sums, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(numbers);
    free(sums);
  }
  return finish();
}
