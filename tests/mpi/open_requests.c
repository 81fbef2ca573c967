/* Requests of every kind, started and completed in every way: none may be taken for open afterwards. */
#include "collectives.h"

enum { kMany = 6 };
static int data[kMany], incoming[kMany];
static MPI_Request requests[2 * kMany];

static void start_messages(void) {
  for (int i = 0; i < kMany; i++) {
    MPI_Irecv(&incoming[i], 1, MPI_INT, (world_rank + world_size - 1) % world_size, i, MPI_COMM_WORLD, &requests[i]);
    (i % 2 == 0 ? MPI_Isend : MPI_Issend)(&data[i], 1, MPI_INT, (world_rank + 1) % world_size, i, MPI_COMM_WORLD,
                                          &requests[kMany + i]);
  }
}

static void complete_all(int way) {
  int left = 2 * kMany, index, done, indices[2 * kMany];
  while (left > 0) {
    switch (way) {
      case 0:
        for (int i = 0; i < 2 * kMany; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        return;
      case 1:
        MPI_Waitall(2 * kMany, requests, MPI_STATUSES_IGNORE);
        return;
      case 2:
        MPI_Waitany(2 * kMany, requests, &index, MPI_STATUS_IGNORE);
        left--;
        break;
      case 3:
        MPI_Waitsome(2 * kMany, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
        break;
      case 4:
        MPI_Testall(2 * kMany, requests, &done, MPI_STATUSES_IGNORE);
        if (done) return;
        break;
      case 5:
        MPI_Testany(2 * kMany, requests, &index, &done, MPI_STATUS_IGNORE);
        if (done) left--;
        break;
      case 6:
        MPI_Testsome(2 * kMany, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
        break;
      default:
        for (int i = 0; i < 2 * kMany; i++) do
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
          while (!done);
        return;
    }
  }
}

static void run_persistent(int way) {
  for (int i = 0; i < kMany; i++) {
    MPI_Recv_init(&incoming[i], 1, MPI_INT, (world_rank + world_size - 1) % world_size, i, MPI_COMM_WORLD,
                  &requests[i]);
    MPI_Send_init(&data[i], 1, MPI_INT, (world_rank + 1) % world_size, i, MPI_COMM_WORLD, &requests[kMany + i]);
  }
  for (int round = 0; round < 3; round++) {
    MPI_Start(&requests[0]);
    MPI_Startall(2 * kMany - 1, requests + 1);
    complete_all(way);
  }
  for (int i = 0; i < 2 * kMany; i++) MPI_Request_free(&requests[i]);
}

static void run_collectives(void) {
  MPI_Comm copy;
  int sum = 1;
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == world_size, "the sum is %d", sum);
  MPI_Comm_free(&copy);
}

static void run_windows(void) {
  MPI_Win windows[3];
  void* memory;
  MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0]);
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[1]);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[2]);
  for (int i = 0; i < 3; i++) MPI_Win_free(&windows[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int way = 0; way < 8; way++) {
    start_messages();
    complete_all(way);
    run_persistent(way);
  }
  run_collectives();
  run_windows();
  MPI_Request kept;
  if (argc > 1) { /* is open to the end */
    MPI_Irecv(incoming, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &kept);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request_free(&kept);
    MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  }
  return finish();
}
