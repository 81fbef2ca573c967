/* Calls that are like earlier ones go straight to what served those; those that only look like them do not. */
#include "check.h"

enum { kShort = 2, kLong = 65537, kCalls = 20 }; /* doubles a block: what Stretto serves, and what it does not */

static double *in, *out;

static double element(int salt, int from, int to, int i) { return 1e8 * salt + 1e7 * from + 1e6 * to + i; }

static void exchange(MPI_Comm comm, int count, MPI_Datatype datatype, int doubles, int salt) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int to = 0; to < size; to++) {
    for (int i = 0; i < doubles; i++) in[to * doubles + i] = element(salt, rank, to, i);
  }
  MPI_Alltoall(in, count, datatype, out, count, datatype, comm);
  for (int from = 0; from < size; from++) {
    for (int i = 0; i < doubles; i += doubles - 1) {
      CHECK(out[from * doubles + i] == element(salt, from, rank, i), "element %d of rank %d: %g", i, from,
            out[from * doubles + i]);
    }
  }
}

static void expect(bool native, const char* when) {
  if (!stretto_expected()) return;
  CHECK((strcmp(last_algorithm("alltoall"), "native") == 0) == native, "%s: %s", when, last_algorithm("alltoall"));
}

/* Some ranks know what the call is, others have not seen it so. */
static void of_other_datatypes(void) {
  for (int call = 0; call < kCalls; call++) {
    const bool bytes = (world_rank + call / 3) % 2 == 0;
    const MPI_Datatype datatype = bytes ? MPI_BYTE : MPI_DOUBLE;
    exchange(MPI_COMM_WORLD, bytes ? (int)sizeof(double) * kShort : kShort, datatype, kShort, call);
    exchange(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  }
}

/* The handle of a datatype that was freed is soon another's. */
static void of_one_handle(int doubles, bool native) {
  MPI_Datatype datatype;
  MPI_Type_contiguous(doubles, MPI_DOUBLE, &datatype);
  MPI_Type_commit(&datatype);
  for (int call = 0; call < kCalls; call++) exchange(MPI_COMM_WORLD, 1, datatype, doubles, call);
  expect(native, "a datatype of the program's");
  MPI_Type_free(&datatype);
}

/* A call that is wrong by itself is none, though all others like it were: what follows goes on. */
static void wrong_by_itself(void) {
  int mine = world_rank;
  int* all = calloc((size_t)world_size, sizeof(int));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int call = 0; call < kCalls; call++) MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int call = 0; call < kCalls; call++) {
    if (world_rank == call % world_size) {
      CHECK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, world_size, MPI_COMM_WORLD) != MPI_SUCCESS, "no such root");
    }
    CHECK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "call %d", call);
    for (int rank = 0; world_rank == 0 && rank < world_size; rank++) CHECK(all[rank] == rank, "call %d", call);
    exchange(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  free(all);
}

/* So is a communicator's; what is asked of the freed one's rank is not the next one's. */
static void of_one_communicator(int members) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < members ? 0 : MPI_UNDEFINED, -world_rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  for (int call = 0; call < kCalls; call++) exchange(comm, kShort, MPI_DOUBLE, kShort, call);
  MPI_Comm_free(&comm);
}

static void add(void* in_, void* inout_, int* count, MPI_Datatype* datatype) {
  (void)datatype;
  for (int i = 0; i < *count; i++) ((int*)inout_)[i] += ((int*)in_)[i];
}
static void take_larger(void* in_, void* inout_, int* count, MPI_Datatype* datatype) {
  (void)datatype;
  for (int i = 0; i < *count; i++)
    if (((int*)in_)[i] > ((int*)inout_)[i]) ((int*)inout_)[i] = ((int*)in_)[i];
}

static int sum_of(int call) { return world_size * (world_size - 1) / 2 + call * world_size; }

/* What a call is given beside its plain arguments may be other each time, and other on each rank. */
static void short_sums(int call) {
  int mine[2] = {world_rank + call, -world_rank}, sum[2] = {-1, -1};
  const bool in_place = (world_rank + call / 2) % 3 == 0;
  if (in_place) memcpy(sum, mine, sizeof mine);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum[0] == sum_of(call) && sum[1] == -sum_of(0), "call %d: %d, %d", call, sum[0], sum[1]);
  const int root = call % world_size;
  const bool root_in_place = world_rank == root && call % 2 == 0;
  int* result = world_rank == root ? sum : NULL;
  if (root_in_place) memcpy(sum, mine, sizeof mine);
  MPI_Reduce(root_in_place ? MPI_IN_PLACE : mine, result, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  CHECK(world_rank != root || sum[0] == sum_of(call), "call %d: %d", call, sum[0]);
  MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(sum[0] == world_size - 1 + call && sum[1] == 0, "call %d: %d, %d", call, sum[0], sum[1]);
}

static void short_broadcasts(int call) {
  const int root = call / 2 % world_size, there = world_rank == root ? 1000 * call + 7 : -1;
  int datum[2] = {there, there};
  const bool bytes = (world_rank + call) % 2 == 0;
  MPI_Bcast(datum, bytes ? 8 : 2, bytes ? MPI_BYTE : MPI_INT, root, MPI_COMM_WORLD);
  CHECK(datum[0] == 1000 * call + 7 && datum[1] == datum[0], "call %d: %d", call, datum[0]);
  if (call % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
}

/* The handle of an operation or a datatype that was freed is soon another's. */
static void short_calls_of_freed_handles(int round) {
  MPI_Op op;
  MPI_Op_create(round % 2 == 0 ? add : take_larger, 1, &op);
  MPI_Datatype every_other;
  MPI_Type_vector(2, 1, 2 + round % 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int call = 0; call < kCalls; call++) {
    int mine = world_rank + call, result = -1;
    MPI_Allreduce(&mine, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(result == (round % 2 == 0 ? sum_of(call) : world_size - 1 + call), "round %d: %d", round, result);
    int data[4] = {world_rank == 0 ? call : -1, -2, world_rank == 0 ? call : -1, world_rank == 0 ? call : -1};
    MPI_Bcast(data, 1, every_other, 0, MPI_COMM_WORLD);
    CHECK(data[0] == call && data[1] == -2 && data[2 + round % 2] == call, "round %d, call %d", round, call);
  }
  MPI_Type_free(&every_other);
  MPI_Op_free(&op);
}

/* As above. */
static void short_calls_that_are_none(int call) {
  int datum = world_rank == 0 ? call : -1, sum = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (world_rank == call % world_size) {
    CHECK(MPI_Bcast(&datum, 1, MPI_INT, world_size, MPI_COMM_WORLD) != MPI_SUCCESS, "no such root");
    CHECK(MPI_Reduce(&datum, &sum, 1, MPI_INT, MPI_SUM, -5, MPI_COMM_WORLD) != MPI_SUCCESS, "no such root");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Bcast(&datum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(datum == call, "call %d: %d", call, datum);
  MPI_Reduce(&datum, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  CHECK(world_rank != 0 || sum == call * world_size, "call %d: %d", call, sum);
}

/* Blocks from and to a root, to all, and from all to all, some in place; now and then the root's datatype is another.
 */
static void short_blocks(int call) {
  enum { kMostRanks = 64 };
  const int root = call % world_size, mine = 100 * call + world_rank, n = world_size;
  const bool at_root = world_rank == root, in_place = (world_rank + call) % 3 == 0, bytes = call % 4 == 0;
  int all[kMostRanks], own = mine, got = -1;
  for (int i = 0; i < n; i++) all[i] = at_root ? 100 * call + i : -1;
  MPI_Scatter(at_root ? all : NULL, bytes ? 4 : 1, bytes ? MPI_BYTE : MPI_INT,
              at_root && in_place ? MPI_IN_PLACE : &got, 1, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(got == mine || (at_root && in_place), "scatter %d: %d", call, got);
  for (int i = 0; i < n; i++) all[i] = -1;
  if (in_place) all[world_rank] = mine;
  MPI_Gather(at_root && in_place ? MPI_IN_PLACE : &own, 1, MPI_INT, at_root ? all : NULL, bytes ? 4 : 1,
             bytes ? MPI_BYTE : MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; at_root && i < n; i++) CHECK(all[i] == 100 * call + i, "gather %d: %d of %d", call, all[i], i);
  for (int i = 0; i < n; i++) all[i] = -1;
  if (in_place) all[world_rank] = mine;
  MPI_Allgather(in_place ? MPI_IN_PLACE : &own, 1, MPI_INT, all, bytes ? 4 : 1, bytes ? MPI_BYTE : MPI_INT,
                MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) CHECK(all[i] == 100 * call + i, "allgather %d: %d of %d", call, all[i], i);
  int input[kMostRanks], output[kMostRanks];
  for (int i = 0; i < n; i++) input[i] = output[i] = 10000 * call + 100 * world_rank + i;
  MPI_Alltoall(call % 3 == 0 ? MPI_IN_PLACE : input, 1, MPI_INT, output, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++)
    CHECK(output[i] == 10000 * call + 100 * i + world_rank, "alltoall %d: %d", call, output[i]);
  for (int i = 0; i < n; i++) output[i] = input[i];
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : input, output, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(output[0] == n * (10000 * call + world_rank) + 100 * sum_of(0), "reduce_scatter_block %d: %d", call, output[0]);
}

/* Lengths that are others in each call, though mostly with the same longest, of none among them; blocks in reverse,
 * with gaps. */
static void short_blocks_of_each_length(int call) {
  enum { kMostRanks = 64, kRoom = 4 };
  const int n = world_size, shortest = call % 5 == 0;
  const bool in_place = (world_rank + call) % 3 == 0, bytes = (world_rank + call) % 4 == 0;
  int counts[kMostRanks], displacements[kMostRanks], total = 0, before = 0;
  for (int i = 0; i < n; i++) {
    counts[i] = shortest + (i + call) % (kRoom - shortest);
    displacements[i] = (n - 1 - i) * kRoom;
    if (i < world_rank) before += counts[i];
    total += counts[i];
  }
  int all[kMostRanks * kRoom], own[kRoom], input[kMostRanks * kRoom], sums[kMostRanks * kRoom];
  for (int i = 0; i < n * kRoom; i++) all[i] = -1;
  int* const here = in_place ? all + displacements[world_rank] : own;
  for (int k = 0; k < counts[world_rank]; k++) here[k] = 10000 * call + 100 * world_rank + k;
  int wide[kMostRanks], places[kMostRanks];
  for (int i = 0; i < n; i++) {
    wide[i] = counts[i] * (bytes ? 4 : 1);
    places[i] = displacements[i] * (bytes ? 4 : 1);
  }
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, counts[world_rank], MPI_INT, all, wide, places,
                 bytes ? MPI_BYTE : MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < kRoom; k++) {
      const int got = all[displacements[i] + k];
      CHECK(got == (k < counts[i] ? 10000 * call + 100 * i + k : -1), "allgatherv %d: %d of %d", call, got, i);
    }
  }
  for (int i = 0; i < total; i++) input[i] = sums[i] = 10000 * call + 100 * world_rank + i;
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : input, sums, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < counts[world_rank]; k++) {
    CHECK(sums[k] == n * (10000 * call + before + k) + 100 * sum_of(0), "reduce_scatter %d: %d", call, sums[k]);
  }
}

static void short_calls(void) {
  for (int call = 0; call < 10 * kCalls; call++) {
    short_sums(call);
    short_broadcasts(call);
    short_blocks(call);
    short_blocks_of_each_length(call);
    if (call % 7 == 0) short_calls_that_are_none(call);
    if (call % kCalls == 0) short_calls_of_freed_handles(call / kCalls);
  }
  if (!stretto_expected() || strcmp(last_algorithm("barrier"), "native") == 0) return; /* no memory in common */
  CHECK(strcmp(last_algorithm("bcast"), "arrival_copy") == 0, "%s", last_algorithm("bcast"));
  CHECK(strcmp(last_algorithm("reduce"), "slot_gather") == 0, "%s", last_algorithm("reduce"));
  CHECK(strcmp(last_algorithm("allreduce"), "slot_exchange") == 0, "%s", last_algorithm("allreduce"));
  CHECK(strcmp(last_algorithm("gather"), "slot_gather") == 0, "%s", last_algorithm("gather"));
  CHECK(strcmp(last_algorithm("allgather"), "slot_exchange") == 0, "%s", last_algorithm("allgather"));
  CHECK(strcmp(last_algorithm("scatter"), "arrival_copy") == 0, "%s", last_algorithm("scatter"));
  CHECK(strcmp(last_algorithm("reduce_scatter_block"), "slot_exchange") == 0, "%s",
        last_algorithm("reduce_scatter_block"));
  CHECK(strcmp(last_algorithm("allgatherv"), "slot_exchange") == 0, "%s", last_algorithm("allgatherv"));
  CHECK(strcmp(last_algorithm("reduce_scatter"), "slot_exchange") == 0, "%s", last_algorithm("reduce_scatter"));
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  in = calloc((size_t)kLong * (size_t)world_size, sizeof(double));
  out = calloc((size_t)kLong * (size_t)world_size, sizeof(double));
  for (int call = 0; call < kCalls; call++) exchange(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  expect(true, "long blocks");
  for (int call = 0; call < kCalls; call++) exchange(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, call);
  expect(false, "short blocks"); /* from now on there is an engine, which long ones are entered in */
  for (int call = 0; call < kCalls; call++) {
    exchange(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
    expect(true, "long blocks after short ones");
    exchange(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, call);
    expect(false, "short blocks after long ones");
  }
  force_algorithm("alltoall", "pairwise");
  exchange(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, 1);
  expect(false, "pairwise is forced");
  force_algorithm("alltoall", "native");
  for (int call = 0; call < kCalls; call++) exchange(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, call);
  expect(true, "native is forced");
  force_algorithm("alltoall", "default");
  exchange(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, 1);
  expect(false, "no longer forced");
  of_other_datatypes();
  wrong_by_itself();
  short_calls();
  for (int round = 0; round < 3; round++) {
    of_one_handle(kShort, false);
    of_one_handle(kLong, true);
    of_one_communicator(world_size);
    if (world_size > 2) of_one_communicator(world_size - 1);
  }
  free(in);
  free(out);
  return finish();
}
