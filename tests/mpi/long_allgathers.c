/* Allgathers of long blocks on two ranks of a node, and no other collectives, by which they could seem to come apart:
 * what serves them is argv[1], or argv[2] where the kernel lets no rank read the other's memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/uio.h>
#include <unistd.h>

#include "collectives.h"

/* Whether either rank may read the other's memory: both learn what both may. */
static bool ranks_read_each_other(void) {
  const int other = 1 - world_rank;
  int64_t here = 1, mine[2] = {getpid(), (int64_t)(intptr_t)&here}, theirs[2] = {0, 0}, there = 0, seen[2] = {0, 0};
  MPI_Sendrecv(mine, 2, MPI_INT64_T, other, 0, theirs, 2, MPI_INT64_T, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const struct iovec to = {&there, sizeof there}, from = {(void*)(intptr_t)theirs[1], sizeof there};
  seen[0] = process_vm_readv((pid_t)theirs[0], &to, 1, &from, 1, 0) == (ssize_t)sizeof there;
  MPI_Sendrecv(&seen[0], 1, MPI_INT64_T, other, 1, &seen[1], 1, MPI_INT64_T, other, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return seen[0] != 0 && seen[1] != 0;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* expected = argv[ranks_read_each_other() ? 1 : 2];
  for (int i = 0; i < 6; i++) {
    const Call allgather = {kAllgather, 32768 << i % 3, 0, i, i % 2 == 1};
    run_call(MPI_COMM_WORLD, &allgather);
    const char* ran = last_algorithm("allgather");
    if (stretto_expected()) CHECK(strcmp(ran, expected) == 0, "call %d was served by %s, not %s", i, ran, expected);
  }
  return finish();
}
