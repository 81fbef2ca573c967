/* A gather that begins ahead in a thread, and between two of them calls that do not: all use the same engine. Argument:
 * rounds. */
#include "collectives.h"

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check_started();
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  const int others[] = {kScatter, kBcast, kAllreduce, kReduce};
  for (int round = 0; round < rounds; round++) {
    const Call gather = {kGather, 9000, 0, round, false};
    run_call(MPI_COMM_WORLD, &gather);
    /* Expected after a gather is a gather: what is not anticipated is not known to come between. */
    for (int i = 0; i < 4; i++) {
      const Call other = {others[i], i % 2 == 0 ? 9000 : 70, round % world_size, round, false};
      run_call(MPI_COMM_WORLD, &other);
    }
  }
  if (world_size > 1) check_forced("gather", 9000 * 8);
  return finish();
}
