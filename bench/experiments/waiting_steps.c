/* What a late rank needs of a rank that waits in a collective call, step by step: how long each step takes, and what
 * CPU time the waiting costs. Run by waiting_steps.py.
 *
 * Arguments: file, steps, ms of computation before each. Rank 0 and all others but the last wait in a barrier; the last
 * one takes the steps: `atomic`, a fetch-and-add on a window of rank 0; `rendezvous`, an MPI_Ssend of 64 KiB to a
 * receive that rank 0 has posted; `nothing` does not ask for anything. They follow each other behind barriers. The last
 * rank writes a line of JSON for each: the name, seconds of each step, seconds of the whole wait, and the CPU seconds
 * that rank 0 took of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { kBytes = 1 << 16, kMost = 10000 };

typedef enum { kNothing, kAtomic, kRendezvous, kKinds } Kind;
static const char* const kNames[kKinds] = {"nothing", "atomic", "rendezvous"};

static int rank, size, steps;
static double computation_s;
static long counter;
static MPI_Win window;
static char* data; /* one place of kBytes for each step on rank 0, one in all on the last rank */

static double cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void compute(void) {
  for (const double start = MPI_Wtime(); MPI_Wtime() - start < computation_s;) continue;
}

static void take_step(Kind kind, int step) {
  if (kind == kAtomic) {
    const long one = 1;
    long before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    if (before == step) return;
    fprintf(stderr, "step %d found %ld in the counter\n", step, before);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  if (kind == kRendezvous) MPI_Ssend(data, kBytes, MPI_BYTE, 0, step, MPI_COMM_WORLD);
}

/* What rank 0 has measured of its wait goes to the rank that writes. */
static void run_kind(Kind kind, FILE* file) {
  static MPI_Request requests[kMost];
  static double taken[kMost];
  const int is_last = rank == size - 1;
  if (kind == kRendezvous && rank == 0)
    for (int step = 0; step < steps; step++)
      MPI_Irecv(data + (size_t)step * kBytes, kBytes, MPI_BYTE, size - 1, step, MPI_COMM_WORLD, &requests[step]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu_before = cpu_seconds(), start = MPI_Wtime();
  for (int step = 0; is_last && step < steps; step++) {
    compute();
    const double before = MPI_Wtime();
    take_step(kind, step);
    taken[step] = MPI_Wtime() - before;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double used[2] = {MPI_Wtime() - start, cpu_seconds() - cpu_before};
  /* One by one: GCC 12 takes MPICH's MPI_STATUSES_IGNORE for an array too short for what MPI_Waitall writes. */
  for (int step = 0; kind == kRendezvous && rank == 0 && step < steps; step++)
    MPI_Wait(&requests[step], MPI_STATUS_IGNORE);
  MPI_Bcast(used, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (file == NULL) return;
  fprintf(file, "{\"kind\":\"%s\",\"wait_s\":%.6f,\"cpu_s\":%.6f,\"steps_s\":[", kNames[kind], used[0], used[1]);
  for (int step = 0; step < steps; step++) fprintf(file, "%s%.9f", step == 0 ? "" : ",", taken[step]);
  fprintf(file, "]}\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || (steps = atoi(argv[2])) < 1 || steps > kMost || size < 2) {
    fprintf(stderr, "usage: %s FILE STEPS MILLISECONDS, on 2 ranks or more, at most %d steps\n", argv[0], kMost);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  computation_s = 1e-3 * atof(argv[3]);
  data = calloc(rank == 0 ? (size_t)steps : 1, kBytes);
  FILE* file = rank == size - 1 ? fopen(argv[1], "w") : NULL;
  if (data == NULL || (rank == size - 1 && file == NULL)) MPI_Abort(MPI_COMM_WORLD, 2);
  for (Kind kind = 0; kind < kKinds; kind++) {
    /* It counts as open for as long as it is there. Memory of the program: of its own, MPI would share it, and nobody
     * would be needed for a step. */
    if (kind == kAtomic) {
      MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
      MPI_Win_lock_all(0, window);
    }
    run_kind(kind, file);
    if (kind == kAtomic) {
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    }
  }
  if (file != NULL) fclose(file);
  free(data);
  MPI_Finalize();
  return 0;
}
