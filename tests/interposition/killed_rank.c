/* Rank 1 dies by SIGKILL: argument "absent": the others wait for it in the collective; "inside": in the collective
 * itself, in a user operation; "message": between the chunks of a large allreduce that repeats for ever. */
#include <pthread.h>
#include <signal.h>

#include "../mpi/check.h"

static void deadly(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int64_t*)inout)[i] += ((const int64_t*)in)[i];
  if (world_rank == 1) raise(SIGKILL);
}

static void* kill_soon(void* argument) {
  (void)argument;
  usleep(300000);
  raise(SIGKILL);
  return NULL;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  enum { kCount = 200000 };
  static int64_t in[kCount], out[kCount];
  const char* how = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 50; i++) MPI_Allreduce(in, out, 1 + i * 1000, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf("about to lose rank 1\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "absent") == 0) {
    if (world_rank == 1) raise(SIGKILL);
    MPI_Allreduce(in, out, kCount, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  if (strcmp(how, "inside") == 0) {
    MPI_Op op;
    MPI_Op_create(deadly, 1, &op);
    /* Whoever reduces first: repeated so that rank 1 is among them some time. */
    for (;;) MPI_Allreduce(in, out, kCount, MPI_INT64_T, op, MPI_COMM_WORLD);
  }
  pthread_t killer;
  if (world_rank == 1) pthread_create(&killer, NULL, kill_soon, NULL);
  for (;;) MPI_Allreduce(in, out, kCount, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}
