/* Processes started by processes: collectives on the intercommunicator and on the merged communicator. Argument "bare":
 * the children are started without LD_PRELOAD, so that one communicator holds ranks with and without Stretto; "child":
 * this is one of them. */
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
    char* bare[] = {"-u", "LD_PRELOAD", "-u", "CHECK_STRETTO", argv[0], "child", NULL};
    const bool is_bare = argc > 1 && strcmp(argv[1], "bare") == 0;
    MPI_Comm_spawn(is_bare ? "env" : argv[0], is_bare ? bare : bare + 5, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &inter, MPI_ERRCODES_IGNORE);
  }
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, child, &merged);
  run_every_call(merged);
  run_every_call(MPI_COMM_WORLD);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  return finish();
}
