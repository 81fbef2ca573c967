/* Different collectives back to back on several communicators, with random delays and no barriers in between;
 * non-blocking collectives and messages are under way meanwhile. Arguments: seed, number of calls. */
#include "collectives.h"

/* A non-blocking allreduce of the MPI library and a ring of messages, begun before a call and ended after it. */
typedef struct {
  MPI_Request requests[3];
  int64_t mine, sum, from_left;
} Background;

static void begin(Background* background, MPI_Comm comm, int round) {
  const int left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
  background->mine = value_at(world_rank, round);
  MPI_Iallreduce(&background->mine, &background->sum, 1, MPI_INT64_T, MPI_SUM, comm, &background->requests[0]);
  MPI_Irecv(&background->from_left, 1, MPI_INT64_T, left, round % 5, comm, &background->requests[1]);
  MPI_Isend(&background->mine, 1, MPI_INT64_T, right, round % 5, comm, &background->requests[2]);
}

static void end(Background* background, int round) {
  MPI_Waitall(3, background->requests, MPI_STATUSES_IGNORE);
  const int left = (world_rank + world_size - 1) % world_size;
  CHECK(background->sum == sum_at(world_size, round), "call %d: wrong MPI_Iallreduce beside it", round);
  CHECK(background->from_left == value_at(left, round), "call %d: wrong message beside it", round);
}

static uint32_t seed = 1;
static int calls = 400;

static void run_checks(void) {
  MPI_Comm comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comms[2]);
  uint32_t shared = 12345u + 977u * seed, mine = shared + 31u * (uint32_t)world_rank + 1;
  const int rounds = check_algorithm == NULL || is_thorough() ? calls : calls / 4;
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm = comms[random_next(&shared) % 3];
    const bool background = random_next(&shared) % 8 == 0;
    int size;
    MPI_Comm_size(comm, &size);
    uint32_t drawn = random_next(&shared);
    const Call call = random_call(&drawn, size); /* from a copy: the halves may differ in size */
    Background work;
    random_delay(&mine, 2000);
    if (background) begin(&work, MPI_COMM_WORLD, i);
    run_call(comm, &call);
    if (background) end(&work, i);
  }
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1) seed = (uint32_t)atoi(argv[1]);
  if (argc > 2) calls = atoi(argv[2]);
  with_each_algorithm(&run_checks);
  return finish();
}
