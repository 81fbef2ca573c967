/* Scatter and gather that are known ahead: forced algorithms under random delays, in a row, with hints and without,
 * with calls that are not those expected, on communicators that die while something has begun. Arguments: seed, rounds,
 * and "hints", "some_hints" (not on all ranks) or "none". */
#include "collectives.h"

typedef int (*ComputeBegin)(void);
typedef int (*ProgressMark)(double);

static ComputeBegin compute_begin;
static ProgressMark progress_mark;

static void find_hints(void) {
  void* begin = dlsym(RTLD_DEFAULT, "Stretto_compute_begin");
  void* mark = dlsym(RTLD_DEFAULT, "Stretto_progress_mark");
  memcpy(&compute_begin, &begin, sizeof compute_begin);
  memcpy(&progress_mark, &mark, sizeof progress_mark);
}

/* Computes, as far as anybody can see. */
static void compute(uint32_t* state, bool hint) {
  const uint32_t us = random_next(state) % 3000;
  if (hint) CHECK(compute_begin() == 0, "compute_begin refused");
  usleep(us / 2);
  if (hint) CHECK(progress_mark(0.5) == 0, "a mark of 0.5 refused");
  usleep(us / 2);
  if (hint && us % 2 == 0) CHECK(progress_mark(0.9) == 0, "a mark of 0.9 refused");
}

static void one_round(MPI_Comm comm, int round, uint32_t* common) {
  int size;
  MPI_Comm_size(comm, &size);
  /* Mostly the same two calls; now and then another, or another collective between them. */
  const Call gather = {kGather, 3000, 0, round, round % 3 == 0}, scatter = {kScatter, 20000, size - 1, round, false};
  run_call(comm, &gather);
  if (random_next(common) % 5 == 0) {
    Call other = random_call(common, size);
    other.in_place = false; /* MPICH 4.0's own reduction to another root than 0 crashes in place */
    run_call(comm, &other);
  }
  run_call(comm, &scatter);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, getenv("WANT_MULTIPLE") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  check_started();
  find_hints();
  uint32_t common = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 60;
  const char* hints = argc > 3 ? argv[3] : "none";
  const bool hint =
      stretto_expected() && (strcmp(hints, "hints") == 0 || (strcmp(hints, "some_hints") == 0 && world_rank % 2 == 0));
  uint32_t own = common * 77 + (uint32_t)world_rank + 1;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < rounds; round++) {
    compute(&own, hint);
    one_round(comm, round, &common);
    if (round % 25 == 24) { /* while the next call has begun, and something of the program's own is open */
      static char out[100000], in[100000]; /* Open MPI's own non-blocking collectives would crash here */
      MPI_Request open[2];
      MPI_Irecv(in, sizeof in, MPI_CHAR, (world_rank + 1) % world_size, 0, comm, &open[0]);
      MPI_Isend(out, sizeof out, MPI_CHAR, (world_rank + world_size - 1) % world_size, 0, comm, &open[1]);
      MPI_Comm_free(&comm);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    }
  }
  if (hint) { /* what is refused */
    CHECK(progress_mark(0.0) != 0 && progress_mark(1.5) != 0 && progress_mark(-1) != 0, "a bad fraction was taken");
    CHECK(compute_begin() == 0 && progress_mark(0.5) == 0 && progress_mark(0.4) != 0, "a falling fraction was taken");
  }
  if (world_size > 1) {
    const Call gather = {kGather, 3000, 0, 1, false}, scatter = {kScatter, 3000, 0, 1, false};
    run_call(comm, &gather);
    check_forced("gather", 24000);
    run_call(comm, &scatter);
    check_forced("scatter", 24000);
  }
  return finish(); /* comm lives on: MPI_Finalize ends what has begun on it */
}
