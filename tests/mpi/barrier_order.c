/* MPI_Barrier: nobody leaves before everybody has entered. One node, so all ranks read the same monotonic clock. */
#include "check.h"

enum { kRounds = 100 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void run_checks(void) {
  static int64_t entered[kRounds], left[kRounds], other_entered[kRounds];
  uint32_t state = 77u + (uint32_t)world_rank;
  for (int round = 0; round < kRounds; round++) {
    random_delay(&state, 2000);
    entered[round] = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    left[round] = now_ns();
    check_forced("barrier", 0);
  }
  for (int distance = 1; distance < world_size; distance++) {
    const int to = (world_rank + distance) % world_size, from = (world_rank - distance + world_size) % world_size;
    MPI_Sendrecv(entered, kRounds, MPI_INT64_T, to, 1, other_entered, kRounds, MPI_INT64_T, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int round = 0; round < kRounds; round++)
      CHECK(left[round] >= other_entered[round], "round %d: left %lld ns before rank %d had entered", round,
            (long long)(other_entered[round] - left[round]), from);
  }
  for (int round = 0; round < 2000; round++) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
