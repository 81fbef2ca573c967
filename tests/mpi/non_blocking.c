/* Non-blocking collectives: many at once, of all kinds, started alike and completed in any order by every call that
 * completes; beside ordinary messages; while the program waits for something else; on a communicator that is freed. */
#include "check.h"

enum { kAllreduce, kReduce, kBcast, kBarrier, kScatter, kGather, kKinds, kMany = 40, kCount = 3001 };

typedef struct {
  int kind, root, count, salt;
  bool in_place;
  int64_t *input, *output;
  size_t input_bytes, output_bytes;
} Call;

static const char* const kNames[] = {"iallreduce", "ireduce", "ibcast", "ibarrier", "iscatter", "igather"};

static int common_count = kCount;

static int64_t item(const Call* call, int rank, int i) { return value_at(rank, i) + 7919 * call->salt; }

static Call new_call(int kind, int number, int size, int rank) {
  Call call = {kind, number % size, number % 5 == 0 ? 1 : common_count + number, number, number % 3 == 0, NULL, NULL, 0,
               0};
  const bool root = rank == call.root;
  const size_t one = (size_t)call.count * 8, all = one * (size_t)size;
  call.in_place = call.in_place && (kind == kAllreduce || (root && kind != kBcast));
  call.input_bytes = kind == kScatter ? (root ? all : 0) : one;
  call.output_bytes = kind == kGather ? (root ? all : 0) : one;
  call.input = guarded_new(call.input_bytes);
  call.output = guarded_new(call.output_bytes);
  if (kind == kScatter) {
    for (int r = 0; root && r < size; r++)
      for (int i = 0; i < call.count; i++) call.input[r * call.count + i] = item(&call, r, i);
  } else if (kind != kBcast || root) {
    int64_t* to =
        kind == kBcast || call.in_place ? call.output + (kind == kGather ? rank * call.count : 0) : call.input;
    for (int i = 0; i < call.count; i++) to[i] = item(&call, rank, i);
  }
  return call;
}

static void begin(Call* call, MPI_Comm comm, MPI_Request* request) {
  const void* input = call->in_place ? MPI_IN_PLACE : call->input;
  void* output = call->in_place && call->kind == kScatter ? MPI_IN_PLACE : call->output;
  if (call->kind == kScatter) input = call->input;
  if (call->kind == kAllreduce) MPI_Iallreduce(input, output, call->count, MPI_INT64_T, MPI_SUM, comm, request);
  if (call->kind == kReduce) MPI_Ireduce(input, output, call->count, MPI_INT64_T, MPI_SUM, call->root, comm, request);
  if (call->kind == kBcast) MPI_Ibcast(output, call->count, MPI_INT64_T, call->root, comm, request);
  if (call->kind == kBarrier) MPI_Ibarrier(comm, request);
  if (call->kind == kScatter)
    MPI_Iscatter(input, call->count, MPI_INT64_T, output, call->count, MPI_INT64_T, call->root, comm, request);
  if (call->kind == kGather)
    MPI_Igather(input, call->count, MPI_INT64_T, output, call->count, MPI_INT64_T, call->root, comm, request);
}

static void check_and_free(Call* call, int size, int rank) {
  const bool root = rank == call->root;
  int wrong = 0;
  for (int i = 0; i < call->count; i++) {
    if (call->kind == kAllreduce || (call->kind == kReduce && root))
      wrong += call->output[i] != sum_at(size, i) + (int64_t)size * 7919 * call->salt;
    if (call->kind == kBcast) wrong += call->output[i] != item(call, call->root, i);
    if (call->kind == kScatter && !(root && call->in_place)) wrong += call->output[i] != item(call, rank, i);
    for (int r = 0; call->kind == kGather && root && r < size; r++)
      wrong += call->output[r * call->count + i] != item(call, r, i);
  }
  CHECK(wrong == 0, "%s %d of %d, root %d: %d wrong", kNames[call->kind], call->salt, call->count, call->root, wrong);
  CHECK(guarded_intact(call->input, call->input_bytes) && guarded_intact(call->output, call->output_bytes),
        "%s: wrote beyond", kNames[call->kind]);
  guarded_free(call->input);
  guarded_free(call->output);
}

/* Completes all of `requests` by one of the ways there are. */
static void complete(int way, int count, MPI_Request* requests, uint32_t* random) {
  int left = count, flag = 0, index, indices[kMany + 2], some;
  MPI_Status status, statuses[kMany + 2];
  switch (way) {
    case 0:
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
      break;
    case 1: /* backwards */
      for (int i = count - 1; i >= 0; i--) MPI_Wait(&requests[i], &status);
      break;
    case 2:
      while (left-- > 0) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      CHECK(index == MPI_UNDEFINED, "one more than there are: %d", index);
      break;
    case 3:
      for (; left > 0; left -= some) MPI_Waitsome(count, requests, &some, indices, statuses);
      break;
    case 4:
      while (!flag) MPI_Testall(count, requests, &flag, statuses);
      break;
    case 5:
      for (; left > 0; left -= some) MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE);
      break;
    case 6:
      for (; left > 0; left -= flag) MPI_Testany(count, requests, &index, &flag, &status);
      break;
    case 7: /* at random, one at a time */
      while (left > 0) {
        const int i = (int)(random_next(random) % (uint32_t)count);
        if (requests[i] == MPI_REQUEST_NULL) continue;
        MPI_Test(&requests[i], &flag, &status);
        left -= flag;
      }
      break;
    default:
      for (int i = 0; i < count; i++) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &status);
        CHECK(requests[i] != MPI_REQUEST_NULL, "a look has freed request %d", i);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
  }
  for (int i = 0; i < count; i++) CHECK(requests[i] == MPI_REQUEST_NULL, "way %d: request %d is still there", way, i);
}

/* With a message to the next rank and from the previous one among the requests. */
static void run_many(MPI_Comm comm, int way, uint32_t* random) {
  int size, rank;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  Call calls[kMany];
  MPI_Request requests[kMany + 2];
  int sent = rank * 1000 + way, received = -1;
  for (int i = 0; i < kMany; i++) {
    calls[i] = new_call((i + way) % kKinds, i, size, rank);
    random_delay(random, 300);
    begin(&calls[i], comm, &requests[i]);
    if (size > 1) check_forced(kNames[calls[i].kind], (size_t)calls[i].count * 8);
  }
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 5, comm, &requests[kMany]);
  MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, 5, comm, &requests[kMany + 1]);
  complete(way, kMany + 2, requests, random);
  CHECK(received == (rank + size - 1) % size * 1000 + way, "the message beside them: %d", received);
  for (int i = 0; i < kMany; i++) check_and_free(&calls[i], size, rank);
}

/* Rank 0 waits for a message that rank 1 sends when its collective has ended, which needs rank 0. */
static void wait_for_something_else(int kind) {
  MPI_Request request;
  int token = kind;
  Call call = new_call(kind, 1, world_size, world_rank);
  begin(&call, MPI_COMM_WORLD, &request);
  if (world_rank == 0 && world_size > 1) {
    MPI_Recv(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world_rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
  check_and_free(&call, world_size, world_rank);
}

/* Rank 0, the root, starts all, the others one after the other: what has been started early must not be in the way of
 * the rest. */
static void start_many_early(int kind) {
  enum { kEarly = 70 };
  MPI_Request requests[kEarly];
  common_count = 40000; /* messages that wait for their receivers */
  Call calls[kEarly];
  for (int i = 0; i < kEarly; i++) {
    calls[i] = new_call(kind, i * world_size, world_size, world_rank);
    begin(&calls[i], MPI_COMM_WORLD, &requests[i]);
    if (world_rank != 0) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(kEarly, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kEarly; i++) check_and_free(&calls[i], world_size, world_rank);
  common_count = kCount;
}

/* Blocking collectives come between start and end, on some ranks after the end. */
static void blocking_between(int kind) {
  MPI_Request request;
  int64_t one = 1, sum = 0;
  Call call = new_call(kind, 3, world_size, world_rank);
  begin(&call, MPI_COMM_WORLD, &request);
  if (world_rank % 2 == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(sum == world_size, "a blocking sum between: %lld", (long long)sum);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_and_free(&call, world_size, world_rank);
}

/* Open MPI 4.1 itself crashes. */
static bool survives_a_freed_communicator(int kind) {
  return forced_algorithm(kNames[kind]) != NULL && getenv("CHECK_NOT_FORCED") == NULL;
}

static void free_meanwhile(int kind) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Call call = new_call(kind, 2, world_size, world_rank);
  begin(&call, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_and_free(&call, world_size, world_rank);
}

/* As above, of data with gaps, which are packed with the communicator that is gone. */
static void free_meanwhile_with_gaps(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Datatype gap, gaps;
  int64_t data[2 * 100];
  for (int i = 0; i < 200; i++) data[i] = -1;
  for (int i = 0; i < 100 && world_rank == 0; i++) data[2 * i] = value_at(0, i);
  MPI_Type_vector(1, 1, 1, MPI_INT64_T, &gap);
  MPI_Type_create_resized(gap, 0, 16, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Ibcast(data, 100, gaps, 0, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Type_free(&gap);
  MPI_Type_free(&gaps);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < 100; i++) wrong += data[2 * i] != value_at(0, i) || data[2 * i + 1] != -1;
  CHECK(wrong == 0, "gaps, and a communicator that is gone: %d wrong", wrong);
}

/* What is left of a communicator that was freed while its call was under way goes some time: handles come again. */
static void free_many_meanwhile(void) {
  const int last = world_size - 1;
  unsigned highest = 0;
  for (int round = 0; round < 100; round++) {
    MPI_Comm comm, next;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_SELF, &next);
    const unsigned handle = (unsigned)MPI_Comm_c2f(next);
    if (round < 10 && handle > highest) highest = handle;
    CHECK(round < 10 || handle <= highest + 8, "round %d: handle %u, at first they were up to %u", round, handle,
          highest);
    if (world_rank == last && last > 0) MPI_Recv(&round, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    if (world_rank == 0 && last > 0) MPI_Send(&round, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&next);
  }
}

/* Of vectors with gaps on some ranks, whose datatype is freed at once; and of a user's operation. */
static void add_twice(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int64_t*)inout)[i] += ((int64_t*)in)[i];
}

static void datatypes_and_operations(void) {
  MPI_Datatype gaps;
  MPI_Request request[2];
  int64_t data[2 * 100], sum[50], mine[50];
  const bool strided = world_rank % 2 == 0;
  for (int i = 0; i < 200; i++) data[i] = -1;
  for (int i = 0; i < 100 && world_rank == 0; i++) data[2 * i] = value_at(0, i);
  for (int i = 0; i < 50; i++) mine[i] = value_at(world_rank, i);
  MPI_Type_vector(100, 1, 2, MPI_INT64_T, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Ibcast(data, strided ? 1 : 100, strided ? gaps : MPI_INT64_T, 0, MPI_COMM_WORLD, &request[0]);
  MPI_Type_free(&gaps);
  MPI_Op op;
  MPI_Op_create(add_twice, 1, &op);
  MPI_Iallreduce(mine, sum, 50, MPI_INT64_T, op, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Op_free(&op);
  int wrong = 0;
  for (int i = 0; i < 100; i++)
    wrong += data[strided ? 2 * i : i] != value_at(0, i) || (strided && data[2 * i + 1] != -1);
  for (int i = 0; i < 50; i++) wrong += sum[i] != sum_at(world_size, i);
  CHECK(wrong == 0, "gaps and a user's operation: %d wrong", wrong);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  uint32_t random = 77 + (uint32_t)world_rank;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
  for (int way = 0; way < 9; way++) {
    run_many(MPI_COMM_WORLD, way, &random);
    run_many(part, way, &random);
  }
  MPI_Comm_free(&part);
  for (int kind = 0; kind < kKinds; kind++) {
    wait_for_something_else(kind);
    blocking_between(kind);
    if (kind < kBarrier) start_many_early(kind);
    if (survives_a_freed_communicator(kind)) free_meanwhile(kind);
  }
  if (survives_a_freed_communicator(kBcast)) free_meanwhile_with_gaps();
  if (survives_a_freed_communicator(kBarrier)) free_many_meanwhile();
  datatypes_and_operations();
  return finish();
}
