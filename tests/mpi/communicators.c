/* Collectives on every sort of communicator: self, split, duplicated, reordered, Cartesian, group, inter, merged. */
#include "collectives.h"

static void run_and_free(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  run_every_call(comm);
  MPI_Comm_free(&comm);
}

static void run_splits(void) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm);
  run_and_free(comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm); /* all ranks, in reverse order */
  run_and_free(comm);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
  run_and_free(comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  run_and_free(comm);
}

static void run_duplicates(void) {
  MPI_Comm comm, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(comm, &again);
  run_every_call(comm);
  MPI_Comm_free(&comm);
  run_and_free(again); /* after its origin is gone */
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  run_and_free(comm);
}

/* Only the members take part in MPI_Comm_create_group: whoever needs all ranks of the parent there hangs. */
static void run_groups(void) {
  MPI_Group world, odd;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int ranges[1][3] = {{world_size - 1, 0, -2}};
  MPI_Group_range_incl(world, 1, ranges, &odd);
  int member;
  MPI_Group_rank(odd, &member);
  if (member != MPI_UNDEFINED) MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &comm);
  run_and_free(comm);
  MPI_Comm_create(MPI_COMM_WORLD, odd, &comm);
  run_and_free(comm);
  MPI_Group_free(&odd);
  MPI_Group_free(&world);
}

static void run_cartesian(void) {
  const int dimensions[1] = {world_size}, periods[1] = {1};
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 1, &comm);
  run_and_free(comm);
}

static int64_t group_sum(const int64_t* members, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) sum += members[i];
  return sum;
}

/* Two groups, even and odd world ranks. Each group's result is made of the other's contributions. */
static void check_inter_reductions(MPI_Comm inter, bool even) {
  int64_t others[64];
  int n = 0;
  for (int rank = even ? 1 : 0; rank < world_size; rank += 2) others[n++] = value_at(rank, 0);
  int64_t mine = value_at(world_rank, 0), sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, inter);
  CHECK(sum == group_sum(others, n), "intercommunicator allreduce gave %lld", (long long)sum);
  int local_rank;
  MPI_Comm_rank(inter, &local_rank);
  sum = -1;
  const int root = !even ? 0 : local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL; /* the first even rank is the root */
  MPI_Reduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, root, inter);
  if (root == MPI_ROOT) CHECK(sum == group_sum(others, n), "intercommunicator reduce gave %lld", (long long)sum);
}

static void run_intercommunicator(void) {
  if (world_size < 2) return;
  const bool even = world_rank % 2 == 0;
  MPI_Comm local, inter, merged;
  MPI_Comm_split(MPI_COMM_WORLD, even, world_rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, even ? 1 : 0, 9, &inter);
  for (int round = 0; round < 5; round++) {
    check_inter_reductions(inter, even);
    int local_rank;
    MPI_Comm_rank(inter, &local_rank);
    int64_t value = even && local_rank == 0 ? 4711 + round : 0;
    MPI_Bcast(&value, 1, MPI_INT64_T, !even ? 0 : local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    if (!even) CHECK(value == 4711 + round, "intercommunicator bcast gave %lld", (long long)value);
    MPI_Barrier(inter);
    run_every_call(local);
  }
  MPI_Intercomm_merge(inter, !even, &merged);
  run_and_free(merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}

static void run_checks(void) {
  run_every_call(MPI_COMM_SELF);
  run_every_call(MPI_COMM_WORLD);
  run_splits();
  run_duplicates();
  run_groups();
  run_cartesian();
  run_intercommunicator();
  run_every_call(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
