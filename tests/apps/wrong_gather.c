/* A defective MPI: the second MPI_Gather of the job brings one wrong number to the root. */
#include <mpi.h>

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  static int calls;
  int rank;
  const int code = PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
  PMPI_Comm_rank(comm, &rank);
  if (++calls == 2 && rank == root) ((float*)receive)[7] += 5;
  return code;
}
