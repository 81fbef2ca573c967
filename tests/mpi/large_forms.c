/* The forms with counts of type MPI_Count, MPI_X_c: they come through Stretto like the others. Argument: a collective;
 * with gather(v) or scatter(v) both of these are run, else allreduce, reduce and broadcast. */
#include "blocks.h"

#if MPI_VERSION >= 4
static void run_one(MPI_Count count, int root) {
  const size_t bytes = (size_t)count * 8;
  int64_t* data = guarded_new(bytes);
  int64_t* result = guarded_new(bytes);
  for (MPI_Count i = 0; i < count; i++) data[i] = value_at(world_rank, i);
  MPI_Allreduce_c(data, result, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (count > 0) check_forced("allreduce", bytes);
  int wrong = 0;
  for (MPI_Count i = 0; i < count; i++) wrong += result[i] != sum_at(world_size, i);
  CHECK(wrong == 0, "allreduce of %lld: %d wrong", (long long)count, wrong);

  memset(result, 0, bytes);
  MPI_Reduce_c(data, result, count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
  if (count > 0) check_forced("reduce", bytes);
  wrong = 0;
  for (MPI_Count i = 0; i < count; i++) wrong += result[i] != (world_rank == root ? sum_at(world_size, i) : 0);
  CHECK(wrong == 0, "reduce of %lld to %d: %d wrong", (long long)count, root, wrong);

  MPI_Bcast_c(data, count, MPI_INT64_T, root, MPI_COMM_WORLD);
  if (count > 0) check_forced("bcast", bytes);
  wrong = 0;
  for (MPI_Count i = 0; i < count; i++) wrong += data[i] != value_at(root, i);
  CHECK(wrong == 0, "broadcast of %lld from %d: %d wrong", (long long)count, root, wrong);
  CHECK(guarded_intact(data, bytes) && guarded_intact(result, bytes), "wrote beyond");
  guarded_free(data);
  guarded_free(result);
}

static int gather(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root) {
  return MPI_Gather_c(own, count, own_type, all, count, all_type, root, MPI_COMM_WORLD);
}

static int scatter(void* all, MPI_Datatype all_type, void* own, int count, MPI_Datatype own_type, int root) {
  return MPI_Scatter_c(all, count, all_type, own, count, own_type, root, MPI_COMM_WORLD);
}

/* The root's lengths in the types of the large forms. */
typedef struct {
  MPI_Count counts[kMostRanks];
  MPI_Aint displacements[kMostRanks];
} LargeLengths;

static LargeLengths enlarged(const int* counts, const int* displacements) {
  LargeLengths large = {0};
  for (int rank = 0; counts != NULL && rank < world_size; rank++) {
    large.counts[rank] = counts[rank];
    large.displacements[rank] = displacements[rank];
  }
  return large;
}

static int gatherv(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                   MPI_Datatype own_type, int root) {
  const LargeLengths large = enlarged(counts, displacements);
  return MPI_Gatherv_c(own, count, own_type, all, large.counts, large.displacements, all_type, root, MPI_COMM_WORLD);
}

static int scatterv(void* all, const int* counts, const int* displacements, MPI_Datatype all_type, void* own, int count,
                    MPI_Datatype own_type, int root) {
  const LargeLengths large = enlarged(counts, displacements);
  return MPI_Scatterv_c(all, large.counts, large.displacements, all_type, own, count, own_type, root, MPI_COMM_WORLD);
}

static void run_whole_buffers(void) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++)
    for (int root = 0; root < world_size; root++) run_one(counts[c], root);
}

int main(int argc, char** argv) {
  const BlockCalls gathers = {"gather", "gatherv", false, &gather, &gatherv};
  const BlockCalls scatters = {"scatter", "scatterv", true, &scatter, &scatterv};
  start(&argc, &argv);
  if (argc > 1 && strncmp(argv[1], "gather", strlen("gather")) == 0)
    blocks_run_all(&gathers);
  else if (argc > 1 && strncmp(argv[1], "scatter", strlen("scatter")) == 0)
    blocks_run_all(&scatters);
  else
    run_whole_buffers();
  return finish();
}
#else
int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_rank == 0) printf("skip: large counts need MPI 4, this is MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
  return finish();
}
#endif
