/* MPI_Bcast: every count and root, contiguous; then types that differ between ranks but have one signature. */
#include "check.h"

static void run_contiguous(int count, int root) {
  const size_t bytes = (size_t)count * 4;
  int32_t* data = guarded_new(bytes);
  if (world_rank == root)
    for (int i = 0; i < count; i++) data[i] = (int32_t)value_at(root, i);
  const int code = MPI_Bcast(data, count, MPI_INT32_T, root, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "count %d root %d: code %d", count, root, code);
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += data[i] != (int32_t)value_at(root, i);
  CHECK(wrong == 0, "count %d root %d: %d elements are wrong", count, root, wrong);
  CHECK(guarded_intact(data, bytes), "count %d root %d: wrote beyond the end", count, root);
  if (count > 0) check_forced("bcast", bytes);
  guarded_free(data);
}

/* The root sends every third int of an array, the others receive `count` contiguous ints, or the other way round. */
static void run_strided(int count, int root, bool strided_root) {
  const int stride = 3;
  const bool strided = (world_rank == root) == strided_root;
  const int step = strided ? stride : 1;
  const size_t bytes = (size_t)count * (size_t)step * 4;
  int32_t* data = guarded_new(bytes);
  if (world_rank == root)
    for (int i = 0; i < count; i++) data[i * step] = (int32_t)value_at(root, i);
  MPI_Datatype vector;
  MPI_Type_vector(count, 1, stride, MPI_INT32_T, &vector);
  MPI_Type_commit(&vector);
  if (strided)
    MPI_Bcast(data, 1, vector, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(data, count, MPI_INT32_T, root, MPI_COMM_WORLD);
  MPI_Type_free(&vector);
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += data[i * step] != (int32_t)value_at(root, i);
  CHECK(wrong == 0, "strided root %d, count %d root %d: %d wrong", strided_root, count, root, wrong);
  if (strided && world_rank != root)
    for (int i = 0; i < count; i++)
      CHECK(guarded_untouched(&data[i * step + 1], i + 1 < count ? 8 : 0), "count %d: wrote into a gap", count);
  CHECK(guarded_intact(data, bytes), "strided, count %d root %d: wrote beyond the end", count, root);
  guarded_free(data);
}

/* Twice as many elements of half the type: 2 x count int32 at the root, count pairs elsewhere (equal signatures). */
static void run_pairs(int count, int root) {
  int32_t* data = guarded_new((size_t)count * 8);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT32_T, &pair);
  MPI_Type_commit(&pair);
  if (world_rank == root)
    for (int i = 0; i < 2 * count; i++) data[i] = (int32_t)value_at(root, i);
  if (world_rank == root)
    MPI_Bcast(data, 2 * count, MPI_INT32_T, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(data, count, pair, root, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
  int wrong = 0;
  for (int i = 0; i < 2 * count; i++) wrong += data[i] != (int32_t)value_at(root, i);
  CHECK(wrong == 0, "pairs, count %d root %d: %d wrong", count, root, wrong);
  guarded_free(data);
}

/* Absolute addresses: MPI_BOTTOM with two separate arrays in one struct type, a negative lower bound elsewhere. */
static void run_bottom(int count, int root) {
  int32_t* first = guarded_new((size_t)count * 4);
  double* second = guarded_new((size_t)count * 8);
  MPI_Aint places[2];
  MPI_Get_address(first, &places[0]);
  MPI_Get_address(second, &places[1]);
  const int lengths[2] = {count, count};
  const MPI_Datatype types[2] = {MPI_INT32_T, MPI_DOUBLE};
  MPI_Datatype both;
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Type_commit(&both);
  for (int i = 0; world_rank == root && i < count; i++) {
    first[i] = (int32_t)value_at(root, i);
    second[i] = 0.5 * (double)value_at(root, i);
  }
  MPI_Bcast(MPI_BOTTOM, 1, both, root, MPI_COMM_WORLD);
  MPI_Type_free(&both);
  int wrong = 0;
  for (int i = 0; i < count; i++)
    wrong += first[i] != (int32_t)value_at(root, i) || second[i] != 0.5 * (double)value_at(root, i);
  CHECK(wrong == 0, "MPI_BOTTOM, count %d root %d: %d wrong", count, root, wrong);
  CHECK(guarded_intact(first, (size_t)count * 4) && guarded_intact(second, (size_t)count * 8), "wrote beyond the end");
  guarded_free(first);
  guarded_free(second);
}

/* A reversed array: the type's displacements are negative. */
static void run_reversed(int count, int root) {
  int32_t* data = guarded_new((size_t)count * 4);
  MPI_Datatype reversed;
  MPI_Type_create_hvector(count, 1, -4, MPI_INT32_T, &reversed);
  MPI_Type_commit(&reversed);
  if (world_rank == root)
    for (int i = 0; i < count; i++) data[i] = (int32_t)value_at(root, i);
  const bool backwards = world_rank % 2 == 1 && world_rank != root;
  if (backwards)
    MPI_Bcast(&data[count - 1], 1, reversed, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(data, count, MPI_INT32_T, root, MPI_COMM_WORLD);
  MPI_Type_free(&reversed);
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += data[backwards ? count - 1 - i : i] != (int32_t)value_at(root, i);
  CHECK(wrong == 0, "reversed, count %d root %d: %d wrong", count, root, wrong);
  guarded_free(data);
}

static void run_checks(void) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++)
    for (int root = 0; root < world_size; root++)
      if (is_checked_with(counts[c], root)) run_contiguous(counts[c], root);
  const int derived_counts[] = {1, 7, 1000, 30011};
  for (int c = 0; c < 4; c++)
    for (int root = 0; root < world_size; root++) {
      if (!is_checked_with(derived_counts[c], root)) continue;
      run_strided(derived_counts[c], root, true);
      run_strided(derived_counts[c], root, false);
      run_pairs(derived_counts[c], root);
      run_bottom(derived_counts[c], root);
      run_reversed(derived_counts[c], root);
    }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
