/* Processes started by processes: collectives on the intercommunicator and on the merged communicator. The children
 * may or may not have Stretto preloaded, as the MPI's launcher likes it. Argument (of the children): "child". */
#include "../mpi/collectives.h"

enum { kChildren = 2 };

int main(int argc, char** argv) {
  MPI_Comm inter, merged;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const bool child = argc > 1 && strcmp(argv[1], "child") == 0;
  if (child) {
    MPI_Comm_get_parent(&inter);
  } else {
    char* arguments[] = {"child", NULL};
    MPI_Comm_spawn(argv[0], arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  }
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, child, &merged);
  run_every_call(merged);
  run_every_call(MPI_COMM_WORLD);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  return finish();
}
