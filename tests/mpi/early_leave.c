/* A gather whose root does not come before it has heard from all others that they have left: it ends only if the root's
 * side of it is done in the background. The blocks are longer than what MPI takes from a sender before anybody
 * receives. Argument: the algorithm that is forced between two rounds, if any; "linear" goes before it, so that what
 * has begun is given up and begun anew. */
#include "collectives.h"

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check_started();
  int (*force)(const char*, const char*);
  void* symbol = dlsym(RTLD_DEFAULT, "Stretto_force");
  memcpy(&force, &symbol, sizeof force);
  if (force == NULL) {
    if (world_rank == 0) puts("skip: the MPI library alone begins nothing ahead");
    return finish();
  }
  MPI_Comm apart;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  for (int round = 0; round < 20; round++) {
    const Call gather = {kGather, 50000, 0, round, false};
    const bool known = round >= 3; /* what recurs is begun ahead */
    if (known && argc > 1) {
      CHECK(force("gather", "linear") == 0 && force("gather", argv[1]) == 0, "%s is not known", argv[1]);
      MPI_Barrier(apart);
    }
    for (int rank = 1; known && world_rank == 0 && rank < world_size; rank++)
      MPI_Recv(NULL, 0, MPI_BYTE, rank, 0, apart, MPI_STATUS_IGNORE);
    run_call(MPI_COMM_WORLD, &gather);
    if (known && world_rank > 0) MPI_Send(NULL, 0, MPI_BYTE, 0, 0, apart);
  }
  MPI_Comm_free(&apart);
  return finish();
}
