/* A rank that waits in a collective lets its peers get on: they may need it before they can arrive.
 *
 * Rank 0 posts what others need and enters the collective; the others need rank 0's MPI library to move before they
 * can enter. A collective that waits without driving MPI hangs here (the harness has a time limit). */
#include "collectives.h"

enum { kBigCount = 1 << 19 }; /* 4 MiB of int64: a rendezvous in every MPI */

static int64_t *big_in, *big_out;

static void fill_big(int salt) {
  for (int i = 0; i < kBigCount; i++) {
    big_out[i] = value_at(world_rank, i) + salt;
    big_in[i] = -1;
  }
}

static void check_big(int from, int salt) {
  int wrong = 0;
  for (int i = 0; i < kBigCount; i++) wrong += big_in[i] != value_at(from, i) + salt;
  CHECK(wrong == 0, "%d elements of the message from %d are wrong", wrong, from);
}

/* Rank 0 receives while it is in the collective. */
static void run_receive(const Call* call) {
  const int peer = world_size - 1;
  MPI_Request request = MPI_REQUEST_NULL;
  fill_big(call->salt);
  if (world_rank == 0) MPI_Irecv(big_in, kBigCount, MPI_INT64_T, peer, 3, MPI_COMM_WORLD, &request);
  if (world_rank == peer) MPI_Send(big_out, kBigCount, MPI_INT64_T, 0, 3, MPI_COMM_WORLD);
  run_call(MPI_COMM_WORLD, call);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (world_rank == 0) check_big(peer, call->salt);
}

/* Rank 0 sends, without blocking, while it is in the collective. */
static void run_send(const Call* call) {
  const int peer = world_size - 1;
  MPI_Request request = MPI_REQUEST_NULL;
  fill_big(call->salt);
  if (world_rank == 0) MPI_Isend(big_out, kBigCount, MPI_INT64_T, peer, 4, MPI_COMM_WORLD, &request);
  if (world_rank == peer) {
    MPI_Recv(big_in, kBigCount, MPI_INT64_T, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_big(0, call->salt);
  }
  run_call(MPI_COMM_WORLD, call);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A receive for anything from anyone must not catch the collective's own messages. */
static void run_wildcard(const Call* call) {
  const int right = (world_rank + 1) % world_size;
  int64_t in = -1;
  const int64_t out = value_at(world_rank, call->salt);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&in, 1, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  run_call(MPI_COMM_WORLD, call);
  MPI_Send(&out, 1, MPI_INT64_T, right, 11, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  CHECK(status.MPI_TAG == 11 && in == value_at(status.MPI_SOURCE, call->salt), "a wildcard receive got tag %d, %lld",
        status.MPI_TAG, (long long)in);
}

/* The last rank must finish a one-sided epoch at rank 0 before it can arrive. */
static void run_one_sided(const Call* call, MPI_Win window, const int64_t* memory) {
  const int peer = world_size - 1;
  const int64_t value = 1000 + call->salt;
  if (world_rank == peer) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window);
    MPI_Win_unlock(0, window);
  }
  run_call(MPI_COMM_WORLD, call);
  if (world_rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    const bool is_there = *memory == value;
    MPI_Win_unlock(0, window);
    /* Only collectives in which rank 0 waits for the last one order the two. */
    if (call->collective != kBcast && world_size > 1)
      CHECK(is_there, "the value put before the collective is not there");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void run_checks(void) {
  if (world_size == 1) return;
  big_in = malloc(kBigCount * sizeof *big_in);
  big_out = malloc(kBigCount * sizeof *big_out);
  int64_t* memory;
  MPI_Win window;
  MPI_Win_allocate(world_rank == 0 ? 64 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  const int counts[] = {1, 3000, 300000};
  for (int collective = 0; collective < kCollectives; collective++)
    for (int c = 0; c < 3 && is_in_turn(collective); c++) {
      /* The root of a broadcast or a scatter comes late; of a reduction or a gather it waits. */
      const int root = collective == kBcast || collective == kScatter ? world_size - 1 : 0;
      const Call call = {collective, counts[c], root, 10 * collective + c, false};
      run_receive(&call);
      run_send(&call);
      run_wildcard(&call);
      run_one_sided(&call, window, memory);
    }
  MPI_Win_free(&window);
  free(big_in);
  free(big_out);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
