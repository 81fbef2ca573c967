/* Persistent collectives: made in the same order everywhere, started in another order on each rank, several times; one
 * that is never started, one that the MPI library serves, and one whose communicator has been freed. */
#include "check.h"

#if MPI_VERSION < 4
int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_rank == 0)
    printf("skip: persistent collectives need MPI 4, this is MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
  return finish();
}
#else

enum { kAllreduce, kReduce, kBcast, kBarrier, kScatter, kGather, kKinds, kEach = 3, kCount = 2003, kRounds = 4 };
enum { kCalls = kKinds * kEach, kScan = kCalls, kRequests };
static const char* const kNames[] = {"iallreduce", "ireduce", "ibcast", "ibarrier", "iscatter", "igather"};

typedef struct {
  int kind, root;
  int64_t *input, *output;
  size_t bytes;
} Call;

static int64_t item(int rank, int i, int round, int number) { return value_at(rank, i) + 31 * round + 977 * number; }

static void make(Call* call, int number, MPI_Comm comm, MPI_Request* request) {
  call->kind = number % kKinds;
  call->root = number % world_size;
  call->bytes = (size_t)kCount * 8 * (size_t)world_size;
  call->input = guarded_new(call->bytes);
  call->output = guarded_new(call->bytes);
  int64_t *in = call->input, *out = call->output;
  const int root = call->root;
  const MPI_Info none = MPI_INFO_NULL;
  switch (call->kind) {
    case kAllreduce:
      MPI_Allreduce_init(in, out, kCount, MPI_INT64_T, MPI_SUM, comm, none, request);
      break;
    case kReduce:
      MPI_Reduce_init(in, out, kCount, MPI_INT64_T, MPI_SUM, root, comm, none, request);
      break;
    case kBcast:
      MPI_Bcast_init(out, kCount, MPI_INT64_T, root, comm, none, request);
      break;
    case kBarrier:
      MPI_Barrier_init(comm, none, request);
      break;
    case kScatter:
      MPI_Scatter_init(in, kCount, MPI_INT64_T, out, kCount, MPI_INT64_T, root, comm, none, request);
      break;
    default:
      MPI_Gather_init(in, kCount, MPI_INT64_T, out, kCount, MPI_INT64_T, root, comm, none, request);
  }
}

static void fill(const Call* call, int number, int round) {
  const int blocks = call->kind == kScatter ? world_size : 1;
  int64_t* to = call->kind == kBcast ? call->output : call->input;
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < kCount; i++) to[b * kCount + i] = item(blocks > 1 ? b : world_rank, i, round, number);
}

static void check(const Call* call, int number, int round) {
  const bool root = world_rank == call->root;
  const int64_t salt = 31 * round + 977 * number;
  int wrong = 0;
  for (int i = 0; i < kCount; i++) {
    if (call->kind == kAllreduce || (call->kind == kReduce && root))
      wrong += call->output[i] != sum_at(world_size, i) + world_size * salt;
    if (call->kind == kBcast) wrong += call->output[i] != item(call->root, i, round, number);
    if (call->kind == kScatter) wrong += call->output[i] != item(world_rank, i, round, number);
    for (int r = 0; call->kind == kGather && root && r < world_size; r++)
      wrong += call->output[r * kCount + i] != item(r, i, round, number);
  }
  CHECK(wrong == 0, "%s %d, round %d: %d wrong", kNames[call->kind], number, round, wrong);
  CHECK(guarded_intact(call->input, call->bytes) && guarded_intact(call->output, call->bytes), "wrote beyond");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  Call calls[kCalls];
  MPI_Request requests[kRequests], never;
  int64_t scanned, scan;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &never);
  for (int i = 0; i < kCalls; i++) make(&calls[i], i, comm, &requests[i]);
  MPI_Scan_init(&scanned, &scan, 1, MPI_INT64_T, MPI_SUM, comm, MPI_INFO_NULL, &requests[kScan]);
  for (int round = 0; round < kRounds; round++) {
    if (round == kRounds - 1) MPI_Comm_free(&comm);
    for (int i = 0; i < kCalls; i++) fill(&calls[i], i, round);
    scanned = round + world_rank;
    if (round % 2 == 0) {
      MPI_Startall(kRequests, requests);
    } else {
      for (int i = 0; i < kRequests; i++) MPI_Start(&requests[world_rank % 2 == 0 ? i : kRequests - 1 - i]);
    }
    if (world_size > 1)
      for (int kind = 0; kind < kKinds; kind++) check_forced(kNames[kind], (size_t)kCount * 8);
    if (round == 1) {
      for (int i = kRequests - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    } else {
      const int code = MPI_Waitall(kRequests, requests, MPI_STATUSES_IGNORE);
      CHECK(code == MPI_SUCCESS, "MPI_Waitall: %d", code);
    }
    const int64_t below = (int64_t)world_rank * (world_rank + 1) / 2;
    CHECK(scan == (world_rank + 1) * round + below, "scan, round %d: %lld", round, (long long)scan);
    for (int i = 0; i < kCalls; i++) {
      CHECK(requests[i] != MPI_REQUEST_NULL, "a persistent request was freed");
      check(&calls[i], i, round);
    }
  }
  MPI_Request_free(&never);
  MPI_Request_free(&requests[kScan]);
  for (int i = 0; i < kCalls; i++) {
    MPI_Request_free(&requests[i]);
    guarded_free(calls[i].input);
    guarded_free(calls[i].output);
  }
  return finish();
}
#endif
