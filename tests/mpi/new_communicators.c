/* Threads whose communicators are made and freed in an order that differs from rank to rank: what is set up for a
 * communicator inside of its collectives must wait for that communicator's ranks alone. Issue: 4 threads a rank, all of
 * which stood in the set-up of their first barrier. */
#include <pthread.h>

#include "collectives.h"

enum { kThreads = 4 };

static MPI_Group world_group;

/* The first half of the ranks, or all of them, in turn; created by their group alone. */
static void* run_lifetimes(void* argument) {
  const int tag = *(const int*)argument;
  int first_half[1][3] = {{0, world_size / 2, 1}};
  for (int round = 0; round < (is_thorough() ? 150 : 40); round++) {
    for (int all = 0; all < 2; all++) {
      MPI_Group group = world_group;
      if (all == 0) MPI_Group_range_incl(world_group, 1, first_half, &group);
      if (all == 1 || world_rank <= world_size / 2) {
        MPI_Comm comm;
        MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
        int ranks, sum = tag + 1;
        MPI_Comm_size(comm, &ranks);
        MPI_Barrier(comm);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == ranks * (tag + 1), "thread %d, round %d: the sum is %d", tag, round, sum);
        MPI_Comm_free(&comm);
      }
      if (all == 0) MPI_Group_free(&group);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int tags[kThreads];
  pthread_t threads[kThreads];
  if (!start_with_threads(&argc, &argv)) return 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  for (int i = 0; i < kThreads; i++) {
    tags[i] = i;
    pthread_create(&threads[i], NULL, run_lifetimes, &tags[i]);
  }
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  MPI_Group_free(&world_group);
  return finish();
}
