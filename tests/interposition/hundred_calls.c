/* A hundred allreduces, for tools that count them; then what Stretto says ran, if it is there. */
#include "../mpi/check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int i = 0; i < 100; i++) {
    int64_t mine = value_at(world_rank, i), sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == sum_at(world_size, i), "call %d: %lld", i, (long long)sum);
  }
  if (world_rank == 0 && last_algorithm("allreduce") != NULL) printf("ran: %s\n", last_algorithm("allreduce"));
  check_forced("allreduce", 8);
  return finish();
}
