/* MPI_THREAD_MULTIPLE: two threads, each with a communicator of its own, in collectives at once. */
#include <pthread.h>

#include "collectives.h"

typedef struct {
  MPI_Comm comm;
  uint32_t shared, mine;
} Work;

/* With each of many algorithms, a part of what is done with one. */
static int rounds(int wanted) { return check_algorithm == NULL || is_thorough() ? wanted : wanted / 4; }

static void* run_thread(void* argument) {
  Work* work = argument;
  for (int i = 0; i < rounds(200); i++) {
    const Call call = random_call(&work->shared, world_size);
    random_delay(&work->mine, 300);
    run_call(work->comm, &call);
  }
  return NULL;
}

/* Threads that also make and free communicators, as a library does that is called from several threads. */
static void* run_lifetimes(void* argument) {
  const Work* work = argument;
  for (int i = 0; i < rounds(20); i++) {
    MPI_Comm comm;
    MPI_Comm_dup(work->comm, &comm);
    const Call call = {i % kCollectives, 500, i % world_size, i, false};
    run_call(comm, &call);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

static Work work[2];

static void run_both(void* (*function)(void*)) {
  pthread_t second;
  pthread_create(&second, NULL, function, &work[1]);
  function(&work[0]);
  pthread_join(second, NULL);
}

static void run_all(void) {
  run_both(run_thread);
  run_both(run_lifetimes);
}

int main(int argc, char** argv) {
  if (!start_with_threads(&argc, &argv)) return 0;
  for (uint32_t i = 0; i < 2; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
    work[i].shared = 99u + i;
    work[i].mine = 7u * (uint32_t)world_rank + i + 1;
  }
  with_each_algorithm(&run_all);
  MPI_Comm_free(&work[0].comm);
  MPI_Comm_free(&work[1].comm);
  return finish();
}
