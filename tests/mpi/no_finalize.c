/* Ends without MPI_Finalize while a call has begun ahead and a thread drives it: exit must go through. */
#include "collectives.h"

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check_started();
  for (int round = 0; round < 10; round++) {
    const Call gather = {kGather, 3000, 0, round, false};
    run_call(MPI_COMM_WORLD, &gather);
  }
  fflush(stdout);
  exit(check_failures == 0 ? 7 : 1);
}
