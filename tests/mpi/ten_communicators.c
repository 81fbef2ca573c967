/* Ten communicators with long messages on each, all kept: natively their memory is the program's alone. */
#include "collectives.h"

enum { kCommunicators = 10, kCount = 12 << 20 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  uint32_t* data = malloc(kCount * sizeof(uint32_t));
  for (int number = 0; number < kCommunicators; number++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < kCount; i++) data[i] = (uint32_t)i * (uint32_t)(world_rank + 1 + number);
    MPI_Allreduce(MPI_IN_PLACE, data, kCount, MPI_UINT32_T, MPI_SUM, comm);
    const uint32_t factor = (uint32_t)(world_size * (world_size + 1) / 2 + number * world_size);
    int wrong = 0;
    for (int i = 0; i < kCount; i++) wrong += data[i] != (uint32_t)i * factor;
    CHECK(wrong == 0, "communicator %d: %d elements wrong", number, wrong);
    check_forced("allreduce", kCount * sizeof(uint32_t));
  }
  free(data);
  return finish();
}
