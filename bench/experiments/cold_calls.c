/* What short calls cost a rank that has done something else for 3 ms, with its caches full of that: the time in the
 * call of the late one of two ranks, who waits for nobody. Prints medians in ns.
 *
 * bench/experiments/compare_figures.py --library now=FILE 'bench/experiments/cold_calls.c @2' */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 1000, kComputed = 6 << 20, kLine = 64, kLateUs = 3000 };
typedef enum { kBcast, kReduce, kAllreduce, kBarrier, kKinds } Kind;
static double times[kKinds][kRounds];
static volatile char computed[kComputed];

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void call(Kind kind, int* value) {
  int sum = 0;
  if (kind == kBcast) MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (kind == kReduce) MPI_Reduce(value, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  if (kind == kBarrier) MPI_Barrier(MPI_COMM_WORLD);
  if (kind == kAllreduce) MPI_Allreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < kRounds; round++) {
    for (Kind kind = kBcast; kind < kKinds; kind++) {
      if (rank == 0) usleep(kLateUs);
      for (size_t at = 0; at < kComputed; at += kLine) computed[at]++;
      int value = round;
      const double begin = now_ns();
      call(kind, &value);
      times[kind][round] = now_ns() - begin;
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  static const char* const kNames[kKinds] = {"late_root_of_bcast", "late_leaf_of_reduce", "late_rank_of_allreduce",
                                             "late_rank_of_barrier"};
  for (Kind kind = kBcast; rank == 0 && kind < kKinds; kind++) {
    qsort(times[kind], kRounds, sizeof times[kind][0], compare);
    printf("%s %.0f\n", kNames[kind], times[kind][kRounds / 2]);
  }
  MPI_Finalize();
  return 0;
}
