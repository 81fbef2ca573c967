// Prints where each rank is, whether ranks of a node share memory, and what it was given; all ranks take part.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../settle.h"

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? "" : value;
}

int main(int argc, char** argv) {
  char preload[4096]; /* before MPI_Init: after it children do without Stretto */
  snprintf(preload, sizeof preload, "%s", variable("LD_PRELOAD"));
  MPI_Init(&argc, &argv);
  int rank, size, ranks_here, sum;
  MPI_Comm node;
  char host[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks_here);
  MPI_Comm_free(&node);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  gethostname(host, sizeof host);
  printf("rank %d/%d %s %d %d given=%s preload=%s\n", rank, size, host, ranks_here, sum, variable("GIVEN"), preload);
  settle();
  MPI_Finalize();
  return 0;
}
