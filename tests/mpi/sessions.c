/* MPI sessions: collectives on a communicator that has no MPI_COMM_WORLD behind it, twice in one process, or as
 * often as the argument says. */
#include "collectives.h"

#if MPI_VERSION >= 4
static void run_session(int number) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "stretto.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &world_rank);
  MPI_Comm_size(comm, &world_size);
  run_every_call(comm);
  if (number == 0 && stretto_expected()) CHECK(last_algorithm("allreduce") != NULL, "Stretto is not loaded");
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  const int sessions = argc > 1 ? atoi(argv[1]) : 2;
  for (int number = 0; number < sessions; number++) run_session(number);
  if (world_rank == 0 && check_failures == 0) printf("ok on %d ranks\n", world_size);
  return check_failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_started();
  MPI_Finalize();
  if (world_rank == 0) printf("skip: sessions need MPI 4, this is MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
  return 0;
}
#endif
