/* MPI_Allreduce: every count, four types, with and without MPI_IN_PLACE, exact values, guarded buffers. */
#include "check.h"

typedef struct {
  MPI_Datatype type;
  size_t size;
  const char* name;
} Kind;

static void store(const Kind* kind, void* buffer, int index, int64_t value, int small) {
  if (kind->type == MPI_INT32_T) ((int32_t*)buffer)[index] = (int32_t)value;
  if (kind->type == MPI_INT64_T) ((int64_t*)buffer)[index] = value * 4096;
  if (kind->type == MPI_DOUBLE) ((double*)buffer)[index] = (double)value;
  if (kind->type == MPI_FLOAT) ((float*)buffer)[index] = (float)small;
}

static void* new_values(const Kind* kind, int count, int rank) {
  void* buffer = guarded_new((size_t)count * kind->size);
  for (int i = 0; i < count; i++) store(kind, buffer, i, value_at(rank, i), small_value_at(rank, i));
  return buffer;
}

static void* new_sums(const Kind* kind, int count) {
  void* buffer = guarded_new((size_t)count * kind->size);
  for (int i = 0; i < count; i++) store(kind, buffer, i, sum_at(world_size, i), small_sum_at(world_size, i));
  return buffer;
}

static void run(const Kind* kind, int count, bool in_place) {
  const size_t bytes = (size_t)count * kind->size;
  void* input = new_values(kind, count, world_rank);
  void* untouched = new_values(kind, count, world_rank);
  void* expected = new_sums(kind, count);
  void* output = in_place ? input : guarded_new(bytes);
  const int code = MPI_Allreduce(in_place ? MPI_IN_PLACE : input, output, count, kind->type, MPI_SUM, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "%s x %d: code %d", kind->name, count, code);
  CHECK(memcmp(output, expected, bytes) == 0, "%s x %d, in place %d: wrong sum", kind->name, count, in_place);
  CHECK(guarded_intact(output, bytes), "%s x %d, in place %d: wrote beyond the result", kind->name, count, in_place);
  if (!in_place) CHECK(memcmp(input, untouched, bytes) == 0, "%s x %d: changed the input", kind->name, count);
  if (count > 0) check_forced("allreduce", bytes);
  if (!in_place) guarded_free(output);
  guarded_free(input);
  guarded_free(untouched);
  guarded_free(expected);
}

static void run_checks(void) {
  const Kind kinds[] = {
      {MPI_INT32_T, 4, "int32"}, {MPI_INT64_T, 8, "int64"}, {MPI_FLOAT, 4, "float"}, {MPI_DOUBLE, 8, "double"}};
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < n; c++)
      for (int in_place = 0; in_place < 2; in_place++) run(&kinds[k], counts[c], in_place);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
