/* More than INT_MAX bytes in one broadcast and one in-place allreduce: int counts, but sizes that need 64 bits. */
#include <limits.h>

#include "check.h"

enum { kCount = 270000011 }; /* of int64: 2.16 GB */

int main(int argc, char** argv) {
  start(&argc, &argv);
  const size_t bytes = (size_t)kCount * 8;
  CHECK(bytes > INT_MAX, "not large");
  int64_t* data = guarded_new(bytes);
  const int root = world_size - 1;
  if (world_rank == root)
    for (int i = 0; i < kCount; i++) data[i] = value_at(root, i);
  MPI_Bcast(data, kCount, MPI_INT64_T, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < kCount; i++) wrong += data[i] != value_at(root, i);
  CHECK(wrong == 0, "broadcast: %d elements are wrong", wrong);
  for (int i = 0; i < kCount; i++) data[i] = value_at(world_rank, i);
  MPI_Allreduce(MPI_IN_PLACE, data, kCount, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check_forced("allreduce", bytes);
  wrong = 0;
  for (int i = 0; i < kCount; i++) wrong += data[i] != sum_at(world_size, i);
  CHECK(wrong == 0, "allreduce: %d elements are wrong", wrong);
  CHECK(guarded_intact(data, bytes), "wrote beyond the end");
  guarded_free(data);
  return finish();
}
