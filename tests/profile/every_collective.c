/* Calls every collective of MPI in every form that there is. The profile must hold exactly these calls. Each block size
 * is different, so that a wrong argument shows. Prints nothing but "ok". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../settle.h"

enum { kRanks = 4, kMany = 64 };
static int rank, size;
static int in[kMany * kRanks], out[kMany * kRanks];
static int counts[kRanks], places[kRanks], ones[kRanks];
static MPI_Datatype types[kRanks];
static MPI_Aint ones_address[kRanks];

/* CALL(name, lower case, arguments without the request): blocking, then non-blocking by another way of completing. */
static MPI_Request request;
static void finish(int how) {
  int flag = 0, index = 0, indices[1], done = 0;
  switch (how % 6) {
    case 0:
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Waitsome(1, &request, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 4:
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      break;
    default:
      while (!flag) MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
  }
}
static int how;
#if MPI_VERSION >= 4
#define PERSISTENT(name, ...)                              \
  MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request); \
  for (int i = 0; i < 2; i++) {                            \
    MPI_Start(&request);                                   \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                 \
  }                                                        \
  MPI_Request_free(&request);
#else
#define PERSISTENT(name, ...)
#endif
#define CALL(name, lower, ...)         \
  MPI_##name(__VA_ARGS__);             \
  MPI_I##lower(__VA_ARGS__, &request); \
  finish(how++);                       \
  PERSISTENT(name, __VA_ARGS__)

int main(int argc, char** argv) {
  MPI_Comm ring;
  int periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != kRanks) return 2;
  for (int i = 0; i < size; i++) {
    counts[i] = i + 1;
    places[i] = i * kMany / 4;
    ones[i] = 1;
    ones_address[i] = (MPI_Aint)i * 4;
    types[i] = i % 2 ? MPI_FLOAT : MPI_INT;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_name(ring, "ring");

  CALL(Allreduce, allreduce, in, out, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD)
  CALL(Allreduce, allreduce, MPI_IN_PLACE, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
  CALL(Reduce, reduce, in, out, 7, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD)
  CALL(Bcast, bcast, in, 9, MPI_INT, 3, MPI_COMM_WORLD)
  CALL(Allgather, allgather, in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD)
  CALL(Allgatherv, allgatherv, in, rank + 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD)
  CALL(Alltoall, alltoall, in, 4, MPI_INT, out, 4, MPI_INT, MPI_COMM_WORLD)
  CALL(Alltoallv, alltoallv, in, ones, places, MPI_INT, out, ones, places, MPI_INT, MPI_COMM_WORLD)
  CALL(Alltoallw, alltoallw, in, ones, places, types, out, ones, places, types, MPI_COMM_WORLD)
  CALL(Gather, gather, in, 6, MPI_INT, out, 6, MPI_INT, 2, MPI_COMM_WORLD)
  CALL(Gatherv, gatherv, in, rank + 1, MPI_INT, out, counts, places, MPI_INT, 0, MPI_COMM_WORLD)
  CALL(Scatter, scatter, in, 8, MPI_INT, out, 8, MPI_INT, 1, MPI_COMM_WORLD)
  CALL(Scatterv, scatterv, in, counts, places, MPI_INT, out, rank + 1, MPI_INT, 3, MPI_COMM_WORLD)
  CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_MIN, MPI_COMM_WORLD)
  CALL(Reduce_scatter_block, reduce_scatter_block, in, out, 11, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
  CALL(Scan, scan, in, out, 12, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
  CALL(Exscan, exscan, in, out, 13, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
  CALL(Neighbor_allgather, neighbor_allgather, in, 14, MPI_INT, out, 14, MPI_INT, ring)
  for (int i = 0; i < size; i++) counts[i] = 15;
  CALL(Neighbor_allgatherv, neighbor_allgatherv, in, 15, MPI_INT, out, counts, places, MPI_INT, ring)
  CALL(Neighbor_alltoall, neighbor_alltoall, in, 16, MPI_INT, out, 16, MPI_INT, ring)
  CALL(Neighbor_alltoallv, neighbor_alltoallv, in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring)
  for (int i = 0; i < size; i++) types[i] = MPI_INT;
  CALL(Neighbor_alltoallw, neighbor_alltoallw, in, ones, ones_address, types, out, ones, ones_address, types, ring)
  CALL(Barrier, barrier, MPI_COMM_WORLD)
  if (rank == 0) printf("ok\n");
  settle();
  MPI_Finalize();
  return 0;
}
