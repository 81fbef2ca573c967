/* Sums whose elements are so long (argv[1] numbers each) that only some, one or none fits into the shared memory that
 * ranks may take: MPI_SUM of them is a user's operation on a contiguous type. */
#include "check.h"

static int element_length;

static void add_elements(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int64_t* from = in;
  int64_t* to = inout;
  for (size_t i = 0; i < (size_t)*length * (size_t)element_length; i++) to[i] += from[i];
}

static void run(MPI_Datatype type, MPI_Op op, int count, bool reduce) {
  const int numbers = count * element_length;
  const size_t bytes = (size_t)numbers * sizeof(int64_t);
  int64_t* input = guarded_new(bytes);
  int64_t* output = guarded_new(bytes);
  for (int i = 0; i < numbers; i++) input[i] = value_at(world_rank, i);
  const int root = world_size - 1;
  if (reduce)
    MPI_Reduce(input, output, count, type, op, root, MPI_COMM_WORLD);
  else
    MPI_Allreduce(input, output, count, type, op, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < numbers && (!reduce || world_rank == root); i++) wrong += output[i] != sum_at(world_size, i);
  CHECK(wrong == 0, "%d elements of %d numbers: %d wrong", count, element_length, wrong);
  CHECK(guarded_intact(output, bytes), "%d elements of %d numbers: wrote beyond", count, element_length);
  guarded_free(input);
  guarded_free(output);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc != 2) return fprintf(stderr, "usage: long_elements NUMBERS\n"), 2;
  element_length = atoi(argv[1]);
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(element_length, MPI_INT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_elements, 1, &op);
  for (int call = 0; call < 8; call++) run(type, op, 1 + call % 3, call >= 4);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  return finish();
}
