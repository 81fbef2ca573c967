/* What a random program is made of: numbers that all ranks draw alike, and what it has of communicators and data.
 *
 * Every step draws from a generator of its own, seeded by program and step, so that a rank which a step does not
 * concern can leave it out. Whatever a rank gets goes into its digest: the same natively and under Stretto. */
#ifndef STRETTO_TESTS_PLAN_H
#define STRETTO_TESTS_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostRanks = 64, kMostComms = 6, kMostOpen = 8, kGuard = 64 };

static int world_rank, world_size;

/* ---- random numbers (Steele et al. 2014: splitmix64) ---- */

static inline uint64_t mixed(uint64_t number) {
  number += 0x9E3779B97F4A7C15u;
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
  number = (number ^ number >> 27) * 0x94D049BB133111EBu;
  return number ^ number >> 31;
}

static inline uint64_t draw(uint64_t* state) { return *state = mixed(*state); }
static inline int pick(uint64_t* state, int n) { return (int)(draw(state) % (uint64_t)n); }
static inline bool one_in(uint64_t* state, int n) { return pick(state, n) == 0; }

/* ---- what a rank has seen ---- */

static inline void digest(uint64_t* seen, const void* data, size_t bytes) {
  const unsigned char* byte = data;
  uint64_t hash = *seen ^ bytes;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ byte[i]) * 0x100000001B3u; /* FNV-1a */
  *seen = mixed(hash);
}

/* ---- elements ---- */

typedef struct {
  uint32_t a, b;
} Affine; /* x -> a x + b: composition is associative and does not commute */

static inline void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const Affine* left = in;
  Affine* right = inout;
  for (int i = 0; i < *count; i++) {
    right[i].b = left[i].a * right[i].b + left[i].b;
    right[i].a = left[i].a * right[i].a;
  }
}

enum { kUnsigned, kDouble, kInt, kBytes, kAffine, kGaps, kTypes };

static MPI_Datatype types[kTypes];
static const size_t kExtent[kTypes] = {8, 8, 4, 1, sizeof(Affine), 12};
static MPI_Op affine_op;

static inline void make_types(void) {
  types[kUnsigned] = MPI_UINT64_T;
  types[kDouble] = MPI_DOUBLE;
  types[kInt] = MPI_INT;
  types[kBytes] = MPI_BYTE;
  MPI_Type_contiguous(2, MPI_UINT32_T, &types[kAffine]);
  MPI_Type_commit(&types[kAffine]);
  MPI_Type_vector(2, 1, 2, MPI_INT, &types[kGaps]); /* 4 bytes, a gap of 4, 4 bytes */
  MPI_Type_commit(&types[kGaps]);
  MPI_Op_create(compose, 0, &affine_op);
}

static inline void free_types(void) {
  MPI_Op_free(&affine_op);
  MPI_Type_free(&types[kAffine]);
  MPI_Type_free(&types[kGaps]);
}

/* Unique per step, rank and index; sums over all ranks are exact. */
static inline void fill(void* data, int type, size_t count, uint64_t seed, int rank) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t value = mixed(seed ^ (uint64_t)rank << 40 ^ i);
    if (type == kUnsigned) ((uint64_t*)data)[i] = value;
    if (type == kDouble) ((double*)data)[i] = (double)(value >> 20 & 0xFFFFFFFF);
    if (type == kInt) ((int*)data)[i] = (int)(value & 0xFFFFFF);
    if (type == kBytes) ((unsigned char*)data)[i] = (unsigned char)value;
    if (type == kAffine) ((Affine*)data)[i] = (Affine){(uint32_t)value | 1, (uint32_t)(value >> 32)};
    if (type == kGaps) memcpy((char*)data + 12 * i, &value, 8);
  }
}

/* ---- buffers, with guards that are part of the digest ---- */

typedef struct {
  unsigned char* memory;
  size_t bytes;
} Buffer;

static inline Buffer new_buffer(size_t bytes) {
  Buffer buffer = {malloc(bytes + 2 * kGuard), bytes};
  if (buffer.memory == NULL) abort();
  memset(buffer.memory, 0xA5, bytes + 2 * kGuard);
  return buffer;
}
static inline void* data_of(Buffer buffer) { return buffer.memory + kGuard; }
static inline void end_buffer(Buffer* buffer, uint64_t* seen) {
  if (buffer->memory == NULL) return;
  digest(seen, buffer->memory, buffer->bytes + 2 * kGuard);
  free(buffer->memory);
  buffer->memory = NULL;
}

/* ---- communicators: each entry is one, or several that have no rank in common ---- */

typedef struct {
  MPI_Comm comm; /* MPI_COMM_NULL: this rank is in none of them */
  int rank, size;
} Comm;

/* ---- what is under way: a collective call, or messages ---- */

typedef struct Call Call;

typedef struct {
  MPI_Request requests[2];
  bool persistent;
  Call* call;
  Buffer buffers[2]; /* of messages */
  int comm;          /* index of its communicator */
} Open;

typedef struct {
  uint64_t seen;
  uint64_t own; /* for what only this rank draws */
  Comm comms[kMostComms];
  int comm_count;
  Open open[kMostOpen];
  int open_count;
  MPI_Win window;
  uint64_t* window_data;
} Program;

/* Errors are returned: they are part of what a rank has seen. */
static inline int seen_code(Program* program, int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (class != MPI_SUCCESS) digest(&program->seen, &class, sizeof class);
  return class;
}

#endif
