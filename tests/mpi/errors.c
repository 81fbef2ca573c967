/* Invalid calls under MPI_ERRORS_RETURN and under a handler of the program's own. Rank 0 prints what each gives, so
 * that the harness can compare with the MPI library alone. Argument "fatal": the default handler ends the job. */
#include "check.h"

static int handler_calls;
static MPI_Comm handler_comm = MPI_COMM_NULL;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)code;
  handler_calls++;
  handler_comm = *comm;
}

static void report(const char* what, int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  if (world_rank == 0) printf("result: %s: class %d\n", what, class);
}

static void run_arguments(MPI_Comm comm) {
  int in[4] = {1, 2, 3, 4}, out[4] = {0};
  report("allreduce negative count", MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm));
  report("allreduce null op", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  report("allreduce null type", MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  report("allreduce aliased", MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm));
  report("allreduce in-place receive", MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  report("allreduce wrong op for type", MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
  report("allreduce minloc of int", MPI_Allreduce(in, out, 1, MPI_INT, MPI_MINLOC, comm));
  report("reduce negative count", MPI_Reduce(in, out, -1, MPI_INT, MPI_SUM, 0, comm));
  report("reduce negative root", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -7, comm));
  report("reduce root too big", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, world_size, comm));
  report("reduce null op", MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  report("reduce null type", MPI_Reduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm));
  report("reduce wrong op for type", MPI_Reduce(in, out, 1, MPI_FLOAT, MPI_BXOR, 0, comm));
  report("bcast negative count", MPI_Bcast(in, -1, MPI_INT, 0, comm));
  report("bcast negative root", MPI_Bcast(in, 1, MPI_INT, -7, comm));
  report("bcast root too big", MPI_Bcast(in, 1, MPI_INT, world_size, comm));
  report("bcast null type", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
  int all[64 * 2] = {0};
  report("allgather negative count", MPI_Allgather(in, -1, MPI_INT, all, -1, MPI_INT, comm));
  report("allgather null type", MPI_Allgather(in, 1, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm));
  report("alltoall negative count", MPI_Alltoall(all, -1, MPI_INT, all + 64, -1, MPI_INT, comm));
  report("alltoall null type", MPI_Alltoall(all, 1, MPI_INT, all + 64, 1, MPI_DATATYPE_NULL, comm));
  report("reduce_scatter_block negative count", MPI_Reduce_scatter_block(all, out, -1, MPI_INT, MPI_SUM, comm));
  report("reduce_scatter_block null op", MPI_Reduce_scatter_block(all, out, 1, MPI_INT, MPI_OP_NULL, comm));
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  report("bcast uncommitted type", MPI_Bcast(in, 1, uncommitted, 0, comm));
  MPI_Type_free(&uncommitted);
}

/* Pairs of operation and type that the standard forbids, and some that it allows: each MPI has its own mind here. */
static void run_odd_pairs(MPI_Comm comm) {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_CHAR, MPI_PACKED, MPI_FLOAT, MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX, MPI_2INT};
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_LAND, MPI_BOR, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  char in[64] = {1}, out[64] = {0}, what[64];
  for (int t = 0; t < 7; t++)
    for (int o = 0; o < 7; o++) {
      snprintf(what, sizeof what, "allreduce of type %d with op %d", t, o);
      report(what, MPI_Allreduce(in, out, 1, types[t], ops[o], comm));
    }
}

static void run_null_communicator(void) {
  int in = 1, out = 0;
  report("allreduce null comm", MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
  report("reduce null comm", MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL));
  report("bcast null comm", MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_NULL));
  report("barrier null comm", MPI_Barrier(MPI_COMM_NULL));
}

/* The program's handler runs once an error, for the communicator that the program called with. */
static void run_handler(void) {
  MPI_Comm comm;
  MPI_Errhandler errors;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &errors);
  MPI_Comm_set_errhandler(comm, errors);
  int in = 1, out = 0;
  MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, comm);
  CHECK(handler_calls == 1 && handler_comm == comm, "%d calls of the handler", handler_calls);
  MPI_Bcast(&in, 1, MPI_INT, world_size, comm);
  CHECK(handler_calls == 2 && handler_comm == comm, "%d calls of the handler", handler_calls);
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm); /* and the communicator still works */
  CHECK(out == world_size && handler_calls == 2, "%d after errors", out);
  MPI_Errhandler_free(&errors);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
    int value = 1;
    MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("went on after a fatal error\n");
    return finish();
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  run_arguments(MPI_COMM_WORLD);
  run_arguments(MPI_COMM_SELF);
  run_odd_pairs(MPI_COMM_WORLD);
  run_null_communicator();
  run_handler();
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_size * (world_size - 1) / 2, "%d after errors", sum);
  return finish();
}
