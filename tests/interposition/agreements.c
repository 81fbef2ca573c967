/* How many collectives of the MPI library Stretto makes of its own: in MPI_Init, in the first call on MPI_COMM_WORLD,
 * in further calls, in the life of a communicator of a few calls, and of one of many; in a call that needs the pool. */
#define _GNU_SOURCE
#include "../mpi/collectives.h"

enum { kMany = 200 }; /* in turn; so many at once would not find memory */

static int (*counted)(void);

static void say(const char* when) {
  if (world_rank == 0) printf("%s: %d\n", when, counted());
}

static void allreduces(MPI_Comm comm, int calls, int count) {
  const Call call = {kAllreduce, count, 0, 3, false};
  for (int i = 0; i < calls; i++) run_call(comm, &call);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  void* symbol = dlsym(RTLD_DEFAULT, "counted_collectives");
  memcpy(&counted, &symbol, sizeof counted);
  say("init");
  allreduces(MPI_COMM_WORLD, 1, 1);
  say("first call");
  allreduces(MPI_COMM_WORLD, 100, 1);
  say("further calls");
  for (int calls = 10; calls <= 100; calls += 90) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    allreduces(comm, calls, 1);
    MPI_Comm_free(&comm);
    say(calls == 10 ? "communicator of few calls" : "communicator of many calls");
  }
  for (int made = 0; made < kMany; made++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    allreduces(comm, 20, 1);
    MPI_Comm_free(&comm);
  }
  say("many communicators");
  allreduces(MPI_COMM_WORLD, 1, 100000);
  say("first long call");
  allreduces(MPI_COMM_WORLD, 10, 100000);
  say("further long calls");
  return finish();
}
