/* Long calls in turn on communicators of the same ranks, which share one pool: whose root leaves early in a broadcast
 * must not write over what others still read, on whichever communicator. Some die while others live. */
#include "collectives.h"

enum { kCommunicators = 10, kRounds = 60 };

static MPI_Comm comms[kCommunicators];

int main(int argc, char** argv) {
  start(&argc, &argv);
  uint32_t common = 5, own = 77 + (uint32_t)world_rank;
  for (int i = 0; i < kCommunicators; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int round = 0; round < kRounds; round++) {
    MPI_Comm* comm = &comms[random_next(&common) % kCommunicators];
    const int root = (int)(random_next(&common) % (uint32_t)world_size);
    const Call bcast = {kBcast, 10000 + (int)(random_next(&common) % 200000), root, round, false};
    const Call allreduce = {kAllreduce, 10000 + (int)(random_next(&common) % 100000), 0, round, false};
    run_call(*comm, &bcast);
    check_forced("bcast", 100000);
    if (random_next(&common) % 3 == 0) {
      run_call(comms[random_next(&common) % kCommunicators], &allreduce);
      check_forced("allreduce", 100000);
    }
    if (random_next(&common) % 8 == 0) {
      MPI_Comm_free(comm);
      MPI_Comm_dup(MPI_COMM_WORLD, comm);
    }
    usleep(random_next(&own) % 2000);
  }
  for (int i = 0; i < kCommunicators; i++) MPI_Comm_free(&comms[i]);
  return finish();
}
