/* What the MPI test programs share: counted checks, guarded buffers, test values, and the question which algorithm ran.
 *
 * The programs are plain MPI: they run natively too, and then the checks about Stretto fall away. A
 * program that cannot run on this MPI prints a line "skip: reason" and ends well. CHECK_STRETTO=1 in
 * the environment says that Stretto's library must be there.
 */
#ifndef STRETTO_TESTS_CHECK_H
#define STRETTO_TESTS_CHECK_H

#include <ctype.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../settle.h"

enum { kGuardBytes = 64, kGuardValue = 0xA5, kMaxReports = 10 };

static int world_rank, world_size;
static atomic_int check_failures;
static const char *check_collective, *check_algorithm; /* what with_each_algorithm() forces now, or NULL */

static inline void check_report(const char* file, int line, const char* condition, const char* format, ...) {
  if (atomic_fetch_add(&check_failures, 1) >= kMaxReports) return;
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s:%d: %s rank %d of %d: not (%s): %s\n", file, line, check_algorithm == NULL ? "" : check_algorithm,
          world_rank, world_size, condition, message);
  fflush(stderr);
}

/* Goes on after a failure, so that the other ranks are not left waiting. */
#define CHECK(condition, ...)                                                    \
  do {                                                                           \
    if (!(condition)) check_report(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

/* ---- Stretto's own interface, looked up at run time so that the programs also run without it ---- */

typedef const char* (*LastAlgorithm)(const char*);

static inline const char* last_algorithm(const char* collective) {
  static _Atomic(LastAlgorithm) function;
  LastAlgorithm known = atomic_load(&function);
  if (known == NULL) {
    void* symbol = dlsym(RTLD_DEFAULT, "Stretto_last_algorithm");
    memcpy(&known, &symbol, sizeof known);
    atomic_store(&function, known);
  }
  return known == NULL ? NULL : known(collective);
}

static inline bool stretto_expected(void) { return getenv("CHECK_STRETTO") != NULL; }

/* The algorithm that is forced for `collective`, or NULL where Stretto is free to choose. */
static inline const char* forced_algorithm(const char* collective) {
  char name[64] = "STRETTO_";
  for (size_t i = 0, at = strlen(name); collective[i] != '\0'; i++) name[at + i] = (char)toupper(collective[i]);
  const bool each = check_algorithm != NULL && strcmp(collective, check_collective) == 0;
  const char* value = each ? check_algorithm : getenv(name);
  return value == NULL || strcmp(value, "default") == 0 ? NULL : value;
}

/* For plain calls (predefined operation and type, contiguous, more than one rank): the forced algorithm has run.
 * CHECK_NOT_FORCED=1: it must not have, since what it needs is missing; CHECK_ANY=1: either will do. */
static inline void check_forced(const char* collective, size_t bytes) {
  const char* forced = forced_algorithm(collective);
  if (!stretto_expected() || forced == NULL || world_size == 1 || getenv("CHECK_ANY") != NULL) return;
  const char* ran = last_algorithm(collective);
  const bool wanted = getenv("CHECK_NOT_FORCED") == NULL;
  CHECK(ran != NULL && (strcmp(ran, forced) == 0) == wanted, "%s of %zu bytes: forced %s, ran %s", collective, bytes,
        forced, ran == NULL ? "(null)" : ran);
}

/* ---- start and end ---- */

static inline void check_started(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (stretto_expected()) CHECK(last_algorithm("allreduce") != NULL, "Stretto's library is not loaded");
}

/* With MPI_THREAD_MULTIPLE; false, with MPI at its end and the reason printed, where this MPI has none. */
static inline bool start_with_threads(int* argc, char*** argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  check_started();
  if (provided >= MPI_THREAD_MULTIPLE) return true;
  settle();
  MPI_Finalize();
  if (world_rank == 0) printf("skip: this MPI has no MPI_THREAD_MULTIPLE\n");
  return false;
}

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  check_started();
}

static inline int finish(void) {
  settle();
  MPI_Finalize();
  if (world_rank == 0 && check_failures == 0) printf("ok on %d ranks\n", world_size);
  return check_failures == 0 ? 0 : 1;
}

/* As Stretto_force; nothing without Stretto. */
static inline void force_algorithm(const char* collective, const char* algorithm) {
  int (*force)(const char*, const char*) = NULL;
  void* symbol = dlsym(RTLD_DEFAULT, "Stretto_force");
  memcpy(&force, &symbol, sizeof force);
  CHECK(force == NULL ? !stretto_expected() : force(collective, algorithm) == 0, "cannot force %s", algorithm);
}

/* Runs `checks` with each algorithm that CHECK_EACH="bcast binomial binomial+4" names, one after the other; or once, as
 * the environment has it. */
static inline void with_each_algorithm(void (*checks)(void)) {
  const char* list = getenv("CHECK_EACH");
  if (list == NULL) {
    checks();
    return;
  }
  char *words = strdup(list), *state = NULL;
  check_collective = strtok_r(words, " ", &state);
  while ((check_algorithm = strtok_r(NULL, " ", &state)) != NULL) {
    force_algorithm(check_collective, check_algorithm);
    checks();
  }
  free(words);
}

/* CHECK_THOROUGH=1, as at night: with each algorithm also what depends on it least. */
static inline bool is_thorough(void) { return getenv("CHECK_THOROUGH") != NULL; }

/* Whether a rooted call with so many elements is to be checked: the short ones with every root. */
static inline bool is_checked_with(int count, int root) {
  return count <= 10000 || root == 0 || root == world_size - 1 || is_thorough();
}

/* ---- values: unique per rank and index; every sum over 8 ranks fits int32 and is exact in double ---- */

static inline int64_t value_at(int rank, int64_t index) { return (int64_t)rank * 1000003 + index; }

static inline int64_t sum_at(int ranks, int64_t index) {
  return (int64_t)ranks * (ranks - 1) / 2 * 1000003 + ranks * index;
}

/* Small enough that sums over 8 ranks are exact in float (24 bits). */
static inline int small_value_at(int rank, int64_t index) { return (rank + 1) * 1000 + (int)(index % 1021); }

static inline int small_sum_at(int ranks, int64_t index) {
  return ranks * (ranks + 1) / 2 * 1000 + ranks * (int)(index % 1021);
}

/* The counts that every collective is tried with, the longest on few ranks. Returns how many there are; at most 12. */
static inline int test_counts(int ranks, int counts[12]) {
  const int all[] = {0, 1, 2, ranks - 1, ranks, ranks + 1, 7, 1000, 100003, 524309};
  const int n = (int)(sizeof all / sizeof all[0]);
  memcpy(counts, all, sizeof all);
  return ranks <= 4 || is_thorough() ? n : n - 1;
}

/* ---- buffers with guards on both sides ---- */

static inline void* guarded_new(size_t bytes) {
  unsigned char* memory = malloc(bytes + 2 * kGuardBytes);
  if (memory == NULL) abort();
  memset(memory, kGuardValue, bytes + 2 * kGuardBytes);
  return memory + kGuardBytes;
}

static inline bool guarded_intact(const void* buffer, size_t bytes) {
  const unsigned char* data = buffer;
  for (int i = 0; i < kGuardBytes; i++)
    if (data[-1 - i] != kGuardValue || data[bytes + (size_t)i] != kGuardValue) return false;
  return true;
}

/* Untouched since guarded_new. */
static inline bool guarded_untouched(const void* buffer, size_t bytes) {
  const unsigned char* data = buffer;
  for (size_t i = 0; i < bytes; i++)
    if (data[i] != kGuardValue) return false;
  return true;
}

static inline void guarded_free(void* buffer) { free((unsigned char*)buffer - kGuardBytes); }

/* ---- pseudo-random numbers and delays (xorshift; a seed of 0 is not allowed) ---- */

static inline uint32_t random_next(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static inline void random_delay(uint32_t* state, uint32_t max_us) {
  const uint32_t delay_us = random_next(state) % (max_us + 1);
  if (random_next(state) % 2 == 0) usleep(delay_us);
}

#endif
