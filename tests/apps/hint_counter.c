/* Stands in for a Stretto with hints: it takes them, wants them in order, and says in MPI_Finalize how many came.
 * REFUSE_HINTS makes it refuse them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int begins, marks, gathers, out_of_order;

int Stretto_compute_begin(void) {
  if (begins++ != marks) out_of_order = 1;
  return getenv("REFUSE_HINTS") != NULL;
}

int Stretto_progress_mark(double fraction) {
  if (++marks != begins || fraction != 0.5) out_of_order = 1;
  return 0;
}

/* Each hint belongs to the gather that comes after it. */
int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (receive_type == MPI_FLOAT && marks > 0 && ++gathers != marks) out_of_order = 1;
  return PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
}

int MPI_Finalize(void) {
  const char* order = begins == 0 ? "none" : out_of_order ? "out of order" : "in order";
  printf("hints: %d begins, %d marks, %s\n", begins, marks, order);
  fflush(stdout);
  return PMPI_Finalize();
}
