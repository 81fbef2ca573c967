/* The forms with counts of type MPI_Count, MPI_X_c: they come through Stretto like the others. Argument: a collective;
 * with and without lengths, where it may have some; or allreduce, reduce and broadcast together. */
#include "exchanges.h"

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

static int allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                     MPI_Datatype out_type, MPI_Comm comm) {
  return MPI_Allgather_c(in, in_count, in_type, out, out_count, out_type, comm);
}

static int allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
                      const int* displacements, MPI_Datatype out_type, MPI_Comm comm) {
  const LargeLengths large = enlarged(counts, displacements);
  return MPI_Allgatherv_c(in, in_count, in_type, out, large.counts, large.displacements, out_type, comm);
}

static int reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return MPI_Reduce_scatter_block_c(in, out, count, type, op, comm);
}

static int reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const LargeLengths large = enlarged(counts, counts);
  return MPI_Reduce_scatter_c(in, out, large.counts, type, op, comm);
}

static int alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm) {
  return MPI_Alltoall_c(in, in_count, in_type, out, out_count, out_type, comm);
}

static int alltoallv(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
                     const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm) {
  const LargeLengths sent = enlarged(in_counts, in_places), received = enlarged(out_counts, out_places);
  return MPI_Alltoallv_c(in, sent.counts, sent.displacements, in_type, out, received.counts, received.displacements,
                         out_type, comm);
}

static void run_whole_buffers(void) {
  int counts[12];
  const int n = test_counts(world_size, counts);
  for (int c = 0; c < n; c++)
    for (int root = 0; root < world_size; root++)
      if (is_checked_with(counts[c], root)) run_one(counts[c], root);
}

static const char* collective;

static void run_all(void) {
  const BlockCalls gathers = {"gather", "gatherv", false, &gather, &gatherv};
  const BlockCalls scatters = {"scatter", "scatterv", true, &scatter, &scatterv};
  const ExchangeCalls exchanges = {"",        &allgather, &allgatherv, &reduce_scatter_block, &reduce_scatter,
                                   &alltoall, &alltoallv};
  const char* const whole[] = {"allreduce", "reduce", "bcast"};
  bool is_whole = false;
  for (int i = 0; i < 3; i++) is_whole = is_whole || strcmp(collective, whole[i]) == 0;
  if (is_whole)
    run_whole_buffers();
  else if (strncmp(collective, "gather", strlen("gather")) == 0)
    blocks_run_all(&gathers);
  else if (strncmp(collective, "scatter", strlen("scatter")) == 0)
    blocks_run_all(&scatters);
  else
    exchanges_run_all(&exchanges, collective);
}

int main(int argc, char** argv) {
  collective = argc > 1 ? argv[1] : "allreduce";
  start(&argc, &argv);
  with_each_algorithm(&run_all);
  return finish();
}
#else
int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_rank == 0) printf("skip: large counts need MPI 4, this is MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
  return finish();
}
#endif
