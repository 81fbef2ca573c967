/* Broadcasts of 64 KiB that one rank comes to some ms late, between allreduces, which all wait in. Every
   result is checked. argv[1]: rounds; argv[2]: the late rank; argv[3]: by how many ms. */
#include "check.h"

/* Asleep: one that computes would keep a core from ranks that have more of them than there are, and how long these take
 * would be chance. */
static void be_late(double ms) { usleep((useconds_t)(1e3 * ms)); }

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = atoi(argv[1]);
  enum { kCount = 16384, kSummed = 1024 };
  static int message[kCount];
  static int sums[kSummed];
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < kCount; i++) message[i] = world_rank == 0 ? 7 * round + i : -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == atoi(argv[2])) be_late(atof(argv[3]));
    MPI_Bcast(message, kCount, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < kCount; i++) CHECK(message[i] == 7 * round + i, "round %d: %d at %d", round, message[i], i);
    for (int i = 0; i < kSummed; i++) sums[i] = world_rank + i + round;
    MPI_Allreduce(MPI_IN_PLACE, sums, kSummed, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < kSummed; i++) {
      const int right = world_size * (world_size - 1) / 2 + world_size * (i + round);
      CHECK(sums[i] == right, "round %d: %d at %d", round, sums[i], i);
    }
  }
  return finish();
}
