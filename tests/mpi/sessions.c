/* MPI sessions: collectives on a communicator that has no MPI_COMM_WORLD behind it, twice in one process, or as
 * often as the argument says; "around" is one session before, during and after the time of MPI_COMM_WORLD. */
#include "collectives.h"

#ifdef MPI_SESSION_NULL
static MPI_Session session;
static MPI_Comm comm;

static void begin_session(void) {
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "stretto.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &world_rank);
  MPI_Comm_size(comm, &world_size);
  run_every_call(comm);
  if (stretto_expected()) CHECK(last_algorithm("allreduce") != NULL, "Stretto is not loaded");
}

static void end_session(void) {
  run_every_call(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "around") == 0) {
#ifdef I_MPI_NUMVERSION
    puts("skip: Intel MPI 2021.18 alone refuses MPI_Init while there is a session");
    return 0;
#endif
    begin_session();
    MPI_Init(&argc, &argv);
    run_every_call(MPI_COMM_WORLD);
    for (int call = 0; call < 20; call++) run_every_call(comm); /* as often as Stretto serves others */
    settle();
    MPI_Finalize();
    end_session();
  }
  const int more = argc == 1 ? 2 : atoi(argv[1]);
  for (int number = 0; number < more; number++) {
    begin_session();
    end_session();
  }
  if (world_rank == 0 && check_failures == 0) printf("ok on %d ranks\n", world_size);
  return check_failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_started();
  settle();
  MPI_Finalize();
  if (world_rank == 0) printf("skip: sessions came with MPI 4, this is MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
  return 0;
}
#endif
