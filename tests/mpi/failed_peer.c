/* A process dies while others are in a collective, or about to be, under an MPI library that lives on (ULFM): all who
 * are left get an error, in that call or a later one, none waits for ever, and they go on without the dead.
 *
 * failed_peer COLLECTIVE: bcast, reduce, allreduce, barrier, allgather or iallreduce; without one, whether the library
 * does. */
#include "check.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <signal.h>

#if defined(MPIX_ERR_PROC_FAILED)
enum { kCount = 3000 };
static int in[kCount], out[8 * kCount];

static int call(const char* collective, MPI_Comm comm) {
  if (strcmp(collective, "iallreduce") == 0) {
    MPI_Request request;
    const int result = MPI_Iallreduce(in, out, kCount, MPI_INT, MPI_SUM, comm, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
  }
  if (strcmp(collective, "bcast") == 0) return MPI_Bcast(in, kCount, MPI_INT, 0, comm);
  if (strcmp(collective, "reduce") == 0) return MPI_Reduce(in, out, kCount, MPI_INT, MPI_SUM, 0, comm);
  if (strcmp(collective, "allreduce") == 0) return MPI_Allreduce(in, out, kCount, MPI_INT, MPI_SUM, comm);
  if (strcmp(collective, "allgather") == 0) return MPI_Allgather(in, kCount, MPI_INT, out, kCount, MPI_INT, comm);
  return MPI_Barrier(comm);
}

/* Some ranks may still end a call that the dead had begun. */
static int call_until_error(const char* collective) {
  for (int i = 0; i < 200; i++) {
    const int result = call(collective, MPI_COMM_WORLD);
    if (result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

static MPI_Comm go_on_without_the_dead(void) {
  MPI_Comm left;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left) == MPI_SUCCESS, "no communicator of those who are left");
  int size;
  MPI_Comm_size(left, &size);
  CHECK(size == world_size - 1, "%d are left", size);
  for (int i = 0; i < 40; i++) {
    int one = i, sum = 0;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS, "call %d fails", i);
    CHECK(sum == size * i, "call %d gives %d", i, sum);
  }
  return left;
}

static void end_without_finalize(int signal) {
  (void)signal;
  _exit(check_failures == 0 ? 0 : 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (argc == 1) return finish();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 20; i++) CHECK(call(argv[1], MPI_COMM_WORLD) == MPI_SUCCESS, "call %d fails", i);
  if (world_rank == 1) raise(SIGKILL);
  int class = MPI_SUCCESS;
  MPI_Error_class(call_until_error(argv[1]), &class);
  CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "error of class %d", class);
  MPI_Comm left = go_on_without_the_dead();
  if (check_failures == 0) printf("rank %d: ok\n", world_rank);
  /* Open MPI 5.0.11 now and then waits for the dead in MPI_Finalize, natively, too: in 6 of 80 runs, four at once. */
  fflush(stdout);
  signal(SIGALRM, end_without_finalize);
  alarm(10);
  MPI_Comm_free(&left);
  MPI_Finalize();
  return check_failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Finalize();
  if (world_rank == 0) printf("skip: this MPI library ends the job when a process fails\n");
  return 0;
}
#endif
