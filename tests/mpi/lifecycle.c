/* Begin and end: collectives as first and last calls, inside an attribute's delete callback during MPI_Finalize, and a
 * communicator with attributes of the program's own. Argument "thread": MPI_Init_thread in place of MPI_Init. */
#include "collectives.h"

static int copied, deleted;

static int count_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void**)out = in;
  *flag = 1;
  copied++;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

/* The first thing that MPI_Finalize does is to free MPI_COMM_SELF's attributes; MPI still works then. */
static int call_collectives(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  run_every_call(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

/* The library's private duplicates must not run the program's attribute callbacks. */
static void run_attributes(void) {
  int keyval;
  MPI_Comm comm, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(count_copy, count_delete, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &copied);
  run_every_call(comm);
  CHECK(copied == 0, "a collective copied the program's attribute %d times", copied);
  MPI_Comm_dup(comm, &copy);
  run_every_call(copy);
  CHECK(copied == 1, "MPI_Comm_dup copied the attribute %d times", copied);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copy);
  CHECK(deleted == 2, "two communicators freed, attribute deleted %d times", deleted);
  MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE, at_end;
  if (argc > 1 && strcmp(argv[1], "thread") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  else
    MPI_Init(&argc, &argv);
  int first = 1;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_started();
  CHECK(first == world_size, "the first call gave %d", first);
  CHECK(last_algorithm("nonsense") == NULL, "an unknown collective has a last algorithm");
  run_attributes();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_collectives, &at_end, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL);
  MPI_Comm_free_keyval(&at_end);
  MPI_Comm never_freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
  run_every_call(never_freed);
  return finish();
}
