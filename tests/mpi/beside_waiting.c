/* What the last rank needs of ranks that wait in a collective, and have done so for a while: a rendezvous with a
 * receive that they have posted, a fetch-and-add on their window, the MPI library's own non-blocking collectives. The
 * yardstick is the same while they wait in MPI_Recv, in the same run. */
#include "collectives.h"

enum { kSteps = 40, kBytes = 1 << 16 };
static const double kAsleepAfter = 0.3, kBetween = 0.002; /* seconds */

static void compute(double seconds) {
  for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;) {
  }
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

static MPI_Win window;
static MPI_Comm beside;
static MPI_Request requests[2 * kSteps];
static char* received;

static void prepare_rendezvous(void) {
  if (world_rank == 0)
    for (int i = 0; i < kSteps; i++)
      MPI_Irecv(received + (size_t)i * kBytes, kBytes, MPI_BYTE, world_size - 1, 1 + i, beside, &requests[i]);
}
static void rendezvous(int step) { MPI_Ssend(received, kBytes, MPI_BYTE, 0, 1 + step, beside); }

static void prepare_nothing(void) {}
static void fetch_and_add(int step) {
  const long one = 1;
  long old = -1;
  MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, window);
  MPI_Win_flush(0, window);
  CHECK(old % kSteps == step, "step %d took %ld", step, old);
}

static int values[2 * kSteps];
static void prepare_reductions(void) {
  for (int i = 0; i < kSteps; i++) {
    values[i] = world_rank + i;
    if (world_rank != world_size - 1)
      MPI_Iallreduce(MPI_IN_PLACE, &values[i], 1, MPI_INT, MPI_SUM, beside, &requests[i]);
  }
}
static void reduction(int step) {
  MPI_Iallreduce(MPI_IN_PLACE, &values[step], 1, MPI_INT, MPI_SUM, beside, &requests[step]);
  MPI_Wait(&requests[step], MPI_STATUS_IGNORE);
}

/* The median time of a step, on the last rank; the others wait meanwhile. */
static double measure(void (*prepare)(void), void (*step)(int), bool in_collective) {
  const int last = world_size - 1;
  double times[kSteps];
  for (int i = 0; i < kSteps; i++) requests[i] = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  prepare();
  if (world_rank == last) {
    compute(kAsleepAfter);
    for (int i = 0; i < kSteps; i++) {
      const double begin = MPI_Wtime();
      step(i);
      times[i] = MPI_Wtime() - begin;
      compute(kBetween);
    }
    for (int rank = 0; rank < last && !in_collective; rank++) MPI_Send(NULL, 0, MPI_INT, rank, 0, beside);
    qsort(times, kSteps, sizeof times[0], compare);
  } else if (!in_collective) {
    MPI_Recv(NULL, 0, MPI_INT, last, 0, beside, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(kSteps, requests, MPI_STATUSES_IGNORE);
  return times[kSteps / 2];
}

static void compare_waits(const char* what, void (*prepare)(void), void (*step)(int)) {
  const double native = measure(prepare, step, false), ours = measure(prepare, step, true);
  if (world_rank == world_size - 1)
    CHECK(ours <= 4 * native + 0.2e-3, "%s: %.3f ms, with ranks that wait in MPI_Recv %.3f ms", what, ours * 1e3,
          native * 1e3);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  static long counter;
  received = calloc(kSteps, kBytes);
  MPI_Comm_dup(MPI_COMM_WORLD, &beside);
  compare_waits("a rendezvous", prepare_rendezvous, rendezvous);
  compare_waits("a non-blocking collective", prepare_reductions, reduction);
  MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  compare_waits("a fetch-and-add", prepare_nothing, fetch_and_add);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&beside);
  free(received);
  return finish();
}
