/* A program in which one rank makes another call than the others: another collective, root, operation or count, or none
 * at all. Errors are returned. Each rank leaves in DIRECTORY/rank-R the class of the error that it got, in that call or
 * in the barrier after it, a digest of what it has seen, and whether Stretto served the call; then all end without
 * MPI_Finalize, as no collective is sure to end any more. */
#ifndef STRETTO_TESTS_ILLEGAL_H
#define STRETTO_TESTS_ILLEGAL_H

#include <dlfcn.h>

#include "calls.h"

enum { kOtherKind, kOtherRoot, kOtherCount, kOtherOperation, kNoCall, kDeviations, kPatienceS = 3 };

static inline void deviate(Step* step, int how, uint64_t state) {
  if (how == kOtherKind) step->kind = (step->kind + 1 + pick(&state, kKinds - 1)) % kKinds;
  if (how == kOtherRoot) step->root = (step->root + 1) % world_size;
  if (how == kOtherCount) step->count = one_in(&state, 2) ? step->count / 2 : step->count * 2 + 1;
  if (how == kOtherOperation) step->op = step->op == MPI_SUM ? MPI_MAX : MPI_SUM;
}

static inline bool is_rooted(int kind) {
  return kind == kBcast || kind == kReduce || kind == kScatter || kind == kGather || kind == kScatterv ||
         kind == kGatherv;
}

/* What can be wrong with that call. */
static inline int draw_deviation(const Step* step, uint64_t* state) {
  for (;;) {
    const int how = pick(state, kDeviations);
    if (how == kOtherRoot && !is_rooted(step->kind)) continue;
    if (how == kOtherOperation && !reduces(step->kind)) continue;
    if (how == kOtherCount && step->kind == kBarrier) continue;
    return how;
  }
}

/* Everybody's result is there, or will never be. */
static inline void wait_for_all(const char* directory) {
  for (int tenth = 0; tenth < kPatienceS * 100; tenth++) {
    int there = 0;
    for (int rank = 0; rank < world_size; rank++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/rank-%d", directory, rank);
      there += access(path, F_OK) == 0;
    }
    if (there == world_size) return;
    usleep(10000);
  }
}

static inline bool was_served(int kind) {
  static const char* const kNames[kKinds] = {"barrier",       "bcast",     "reduce",
                                             "allreduce",     "",          "",
                                             "scatter",       "gather",    "allgather",
                                             "alltoall",      "scatterv",  "gatherv",
                                             "allgatherv",    "alltoallv", "reduce_scatter_block",
                                             "reduce_scatter"};
  const char* (*last_algorithm)(const char*);
  void* symbol = dlsym(RTLD_DEFAULT, "Stretto_last_algorithm");
  memcpy(&last_algorithm, &symbol, sizeof last_algorithm);
  const char* name = symbol == NULL ? NULL : last_algorithm(kNames[kind]);
  return name != NULL && strcmp(name, "native") != 0;
}

static inline void leave_result(const char* directory, int how, const Step* step, const int classes[2], uint64_t seen) {
  char path[4096], early[4128];
  snprintf(path, sizeof path, "%s/rank-%d", directory, world_rank);
  snprintf(early, sizeof early, "%s.part", path);
  FILE* file = fopen(early, "w");
  if (file == NULL) exit(3);
  fprintf(file, "%d %d %d %d %016llx %d\n", how, step->kind, classes[0], classes[1], (unsigned long long)seen,
          was_served(step->kind));
  fclose(file);
  rename(early, path);
}

static inline void run_illegal(uint64_t seed, const char* directory) {
  uint64_t state = mixed(seed);
  Program program = {.comm_count = 1};
  const Comm comm = {MPI_COMM_WORLD, world_rank, world_size};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int call = pick(&state, 6); call > 0; call--) {
    const Step step = draw_step(draw(&state), world_size);
    call_blocking(&step, &comm, &program);
  }
  Step step = draw_step(draw(&state), world_size);
  /* What one of MPI's operations can do, and Stretto serves: of others the MPI library says what it will. */
  if (step.type == kAffine || (step.type == kBytes && reduces(step.kind))) step.type = kUnsigned, step.op = MPI_SUM;
  const int how = draw_deviation(&step, &state), who = pick(&state, world_size);
  if (who == world_rank) deviate(&step, how, draw(&state));
  Side side;
  const Ends ends = prepare_side(&step, &comm, &side);
  int classes[2] = {MPI_SUCCESS, MPI_SUCCESS};
  if (how != kNoCall || who != world_rank) classes[0] = seen_code(&program, run_blocking(&step, &comm, &side, ends));
  end_side(&step, comm.rank, &side, &program.seen);
  classes[1] = seen_code(&program, MPI_Barrier(MPI_COMM_WORLD));
  leave_result(directory, how, &step, classes, program.seen);
  wait_for_all(directory);
  _exit(0);
}

#endif
