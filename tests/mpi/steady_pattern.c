/* Scatter and gather in a row, to which one rank always comes late. */
#include "collectives.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int round = 0; round < 40; round++) {
    const Call gather = {kGather, 8000, 0, round, false}, scatter = {kScatter, 8000, 0, round, false};
    usleep(world_rank == 1 ? 20000 : 0);
    run_call(MPI_COMM_WORLD, &gather);
    usleep(world_rank == 1 ? 20000 : 0);
    run_call(MPI_COMM_WORLD, &scatter);
  }
  return finish();
}
