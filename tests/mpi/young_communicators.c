/* The MPI library serves the first calls of a communicator that may be gone soon, and Stretto those that follow, of
 * MPI_COMM_WORLD all; what it shares of the node's memory it gives back. Argument: how many communicators. */
#include "collectives.h"

enum { kFirstCalls = 16 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int communicators = argc > 1 ? atoi(argv[1]) : 3;
  const Call small = {kAllreduce, 10, 0, 1, false}, large = {kAllreduce, 400000, 0, 2, false};
  run_call(MPI_COMM_WORLD, &small);
  CHECK(!stretto_expected() || strcmp(last_algorithm("allreduce"), "native") != 0, "native on MPI_COMM_WORLD");
  for (int made = 0; made < communicators; made++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < kFirstCalls; call++) {
      run_call(comm, &small);
      CHECK(!stretto_expected() || strcmp(last_algorithm("allreduce"), "native") == 0, "call %d is not native", call);
    }
    run_call(comm, &large);
    CHECK(!stretto_expected() || strcmp(last_algorithm("allreduce"), "arrival_stripes") == 0, "then %s ran",
          last_algorithm("allreduce"));
    MPI_Comm_free(&comm);
  }
  return finish();
}
