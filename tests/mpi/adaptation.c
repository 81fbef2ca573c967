/* Many calls of a few kinds, while what serves them changes: every result is checked. argv[1]: rounds. */
#include "collectives.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 400;
  MPI_Comm other;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &other);
  for (int round = 0; round < rounds; round++) {
    const int root = round % world_size;
    for (int collective = kAllreduce; collective <= kAllgather; collective++) {
      const Call shorter = {collective, 3, root, 7 * round, round % 3 == 0};
      run_call(MPI_COMM_WORLD, &shorter);
    }
    const Call longer = {round % 2 ? kBcast : kAllreduce, 3000, root, 5 * round, false};
    run_call(MPI_COMM_WORLD, &longer);
    int mates;
    MPI_Comm_size(other, &mates);
    const Call apart = {kAllreduce, 3, 0, 11 * round, false};
    if (mates > 1) run_call(other, &apart);
  }
  MPI_Comm_free(&other); /* while an exchange of its ranks may be under way */
  return finish();
}
