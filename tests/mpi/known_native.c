/* Calls that were found to be the MPI library's own go straight there; those that only look like them do not. */
#include "check.h"

enum { kShort = 2, kLong = 4096, kCalls = 20 }; /* doubles a block: below and above what is worth copying */

static double in[kLong], *out;

static void gather_all(MPI_Comm comm, int count, MPI_Datatype datatype, int doubles, int salt) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < doubles; i++) in[i] = 1e6 * salt + 1e4 * rank + i;
  MPI_Allgather(in, count, datatype, out, count, datatype, comm);
  for (int from = 0; from < size; from++) {
    for (int i = 0; i < doubles; i += doubles - 1) {
      CHECK(out[from * doubles + i] == 1e6 * salt + 1e4 * from + i, "element %d of rank %d: %g", i, from,
            out[from * doubles + i]);
    }
  }
}

static void expect(bool native, const char* when) {
  if (!stretto_expected()) return;
  CHECK((strcmp(last_algorithm("allgather"), "native") == 0) == native, "%s: %s", when, last_algorithm("allgather"));
}

/* Some ranks know what the call is, others have not seen it so. */
static void of_other_datatypes(void) {
  for (int call = 0; call < kCalls; call++) {
    const bool bytes = (world_rank + call / 3) % 2 == 0;
    const MPI_Datatype datatype = bytes ? MPI_BYTE : MPI_DOUBLE;
    gather_all(MPI_COMM_WORLD, bytes ? (int)sizeof(double) * kShort : kShort, datatype, kShort, call);
    gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  }
}

/* The handle of a datatype that was freed is soon another's. */
static void of_one_handle(int doubles, bool native) {
  MPI_Datatype datatype;
  MPI_Type_contiguous(doubles, MPI_DOUBLE, &datatype);
  MPI_Type_commit(&datatype);
  for (int call = 0; call < kCalls; call++) gather_all(MPI_COMM_WORLD, 1, datatype, doubles, call);
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
    gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  free(all);
}

/* So is a communicator's; what is asked of the freed one's rank is not the next one's. */
static void of_one_communicator(int members) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < members ? 0 : MPI_UNDEFINED, -world_rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  for (int call = 0; call < kCalls; call++) gather_all(comm, kShort, MPI_DOUBLE, kShort, call);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  out = calloc((size_t)kLong * (size_t)world_size, sizeof(double));
  for (int call = 0; call < kCalls; call++) gather_all(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, call);
  expect(true, "short blocks");
  for (int call = 0; call < kCalls; call++) gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  expect(false, "long blocks"); /* from now on there is an engine, which short ones are entered in */
  for (int call = 0; call < kCalls; call++) {
    gather_all(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, call);
    expect(true, "short blocks after long ones");
    gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
    expect(false, "long blocks after short ones");
  }
  force_algorithm("allgather", "ring");
  gather_all(MPI_COMM_WORLD, kShort, MPI_DOUBLE, kShort, 1);
  expect(false, "ring is forced");
  force_algorithm("allgather", "native");
  for (int call = 0; call < kCalls; call++) gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, call);
  expect(true, "native is forced");
  force_algorithm("allgather", "default");
  gather_all(MPI_COMM_WORLD, kLong, MPI_DOUBLE, kLong, 1);
  expect(false, "no longer forced");
  of_other_datatypes();
  wrong_by_itself();
  for (int round = 0; round < 3; round++) {
    of_one_handle(kShort, true);
    of_one_handle(kLong, false);
    of_one_communicator(world_size);
    if (world_size > 2) of_one_communicator(world_size - 1);
  }
  free(out);
  return finish();
}
