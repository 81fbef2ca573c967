/* MPI_Reduce: every count and root, with and without MPI_IN_PLACE; the receive buffer means nothing off the root. */
#include "check.h"

static void check_root(const int64_t* output, int count, int root) {
  int wrong = -1;
  for (int i = count - 1; i >= 0; i--)
    if (output[i] != sum_at(world_size, i)) wrong = i;
  CHECK(wrong < 0, "count %d root %d: [%d] = %lld, not %lld", count, root, wrong, (long long)output[wrong],
        (long long)sum_at(world_size, wrong));
  CHECK(guarded_intact(output, (size_t)count * 8), "count %d root %d: wrote beyond the result", count, root);
}

static void run(int count, int root, bool in_place) {
  const size_t bytes = (size_t)count * 8;
  const bool is_root = world_rank == root;
  int64_t* input = guarded_new(bytes);
  int64_t* output = guarded_new(bytes);
  for (int i = 0; i < count; i++) input[i] = value_at(world_rank, i);
  if (in_place && is_root) memcpy(output, input, bytes);
  const void* send = in_place && is_root ? MPI_IN_PLACE : input;
  /* Off the root NULL is as good as any buffer; a buffer must be left alone. */
  void* receive = is_root || count % 2 == 0 ? output : NULL;
  const int code = MPI_Reduce(send, receive, count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "count %d root %d: code %d", count, root, code);
  if (is_root) check_root(output, count, root);
  if (!is_root) CHECK(guarded_untouched(output, bytes), "count %d root %d: changed a non-root's buffer", count, root);
  int changed = 0;
  for (int i = 0; i < count; i++) changed += input[i] != value_at(world_rank, i);
  CHECK(changed == 0, "count %d root %d: changed %d elements of the input", count, root, changed);
  if (count > 0) check_forced("reduce", bytes);
  guarded_free(input);
  guarded_free(output);
}

static void run_checks(void) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++)
    for (int root = 0; root < world_size; root++)
      for (int in_place = 0; in_place < 2; in_place++)
        if (is_checked_with(counts[c], root)) run(counts[c], root, in_place);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
