/* What a communicator costs that lives: medians over many, in nanoseconds, a line each.
 * "dup" is MPI_Comm_dup, "young" an allreduce of 8 bytes, the last that Stretto leaves to the MPI library as the
 * communicator may be gone soon, "setup" the next one, with what Stretto then makes for the communicator, "later" the
 * one after that, "free" MPI_Comm_free.
 *
 * bench/experiments/compare_figures.py --library now=build/lib/libstretto_openmpi.so bench/experiments/setup_cost.c ...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kDup, kYoung, kSetup, kLater, kFree, kSteps };
enum { kCommunicators = 400, kYoungCalls = 16 };
static const char* const names[kSteps] = {"dup", "young", "setup", "later", "free"};
static double seconds[kSteps][kCommunicators];

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void sum(MPI_Comm comm) {
  double in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
}

/* Ranks come to each step together, and the slowest counts. */
static void note(int step, int number, double begin) {
  double took = MPI_Wtime() - begin;
  PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  seconds[step][number] = took;
  PMPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int number = 0; number < kCommunicators; number++) {
    MPI_Comm comm;
    double begin = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    note(kDup, number, begin);
    for (int call = 0; call < kYoungCalls; call++) {
      begin = MPI_Wtime();
      sum(comm);
    }
    note(kYoung, number, begin);
    begin = MPI_Wtime();
    sum(comm);
    note(kSetup, number, begin);
    begin = MPI_Wtime();
    sum(comm);
    note(kLater, number, begin);
    begin = MPI_Wtime();
    MPI_Comm_free(&comm);
    note(kFree, number, begin);
  }
  for (int step = 0; step < kSteps && rank == 0; step++) {
    qsort(seconds[step], kCommunicators, sizeof(double), compare);
    printf("%s %.0f\n", names[step], seconds[step][kCommunicators / 2] * 1e9);
  }
  return MPI_Finalize();
}
