/* Lateness that is known: rank 3 comes 40 ms late to every third allreduce, rank 1 comes 5 ms late to every broadcast.
 * The argument is the number of rounds. Since the machine adds lateness of its own, the program looks at its clock
 * before each allreduce, and rank 0 prints by how much rank 3 was last at all of them, "truth: <seconds>". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../settle.h"

enum { kMostRounds = 1000, kMostRanks = 16 };

static void sleep_for(long nanoseconds) {
  const struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

/* MPI_Wtime may begin at another moment in each process. */
static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline)) static void reduce_gradients(double* values) {
  MPI_Allreduce(MPI_IN_PLACE, values, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void share_parameters(double* values) {
  MPI_Bcast(values, 16, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void print_truth(const double* arrivals, int rounds, int size) {
  static double all[kMostRounds * kMostRanks];
  double sum = 0;
  int rank;
  MPI_Gather(arrivals, rounds, MPI_DOUBLE, all, rounds, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  for (int round = 0; round < rounds; round++) {
    double others = 0;
    for (int other = 0; other < size; other++) {
      const double arrival = all[other * rounds + round];
      if (other != 3 && arrival > others) others = arrival;
    }
    const double late = all[3 * rounds + round] - others;
    if (late > 0) sum += late;
  }
  printf("truth: %.9f\n", sum);
}

int main(int argc, char** argv) {
  static double arrivals[kMostRounds];
  int rank, size;
  double values[16] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  if (rounds > kMostRounds || size > kMostRanks) return 2;
  for (int round = 0; round < rounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 3 && round % 3 == 0) sleep_for(40000000);
    arrivals[round] = seconds_now();
    reduce_gradients(values);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) sleep_for(5000000);
    share_parameters(values);
  }
  print_truth(arrivals, rounds, size);
  settle();
  MPI_Finalize();
  return 0;
}
