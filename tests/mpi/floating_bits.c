/* Rounded sums: within the error bound, the same bits on every rank, and with STRETTO_DETERMINISTIC=1 the same bits in
 * every call, whatever the order of arrival. Rank 0 prints the algorithm and a hash of all results; equal between two
 * deterministic runs.
 *
 * Bound: any order of adding P numbers errs by at most (P - 1) u sum |x_i| (1 + O(u)), u = 2^-24 for float, 2^-53. */
#include <float.h>
#include <math.h>

#include "check.h"

static uint64_t all_results;
static uint32_t delays;

static void hash(const void* data, size_t bytes) {
  const unsigned char* byte = data;
  for (size_t i = 0; i < bytes; i++) all_results = (all_results ^ byte[i]) * 1099511628211u;
}

/* Widely different magnitudes, so that the order of adding shows in the last bits. */
static double wide_value(int rank, int index) {
  uint32_t state = 1 + (uint32_t)index * 31u + (uint32_t)rank * 7001u;
  for (int i = 0; i < 5; i++) random_next(&state);
  const double mantissa = (double)random_next(&state) / 4294967296.0 - 0.5;
  return ldexp(mantissa, (int)(random_next(&state) % 24));
}

static void check_bound(const void* result, bool is_float, int count) {
  const double unit = is_float ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  int wrong = 0;
  for (int i = 0; i < count; i++) {
    long double exact = 0, magnitude = 0;
    for (int rank = 0; rank < world_size; rank++) {
      const double value = wide_value(rank, i);
      exact += is_float ? (float)value : value;
      magnitude += fabs(is_float ? (float)value : value);
    }
    const double got = is_float ? ((const float*)result)[i] : ((const double*)result)[i];
    wrong += fabsl(got - exact) > 1.01L * (world_size - 1) * unit * magnitude;
  }
  CHECK(wrong == 0, "%s x %d: %d sums are out of bounds", is_float ? "float" : "double", count, wrong);
}

/* All ranks' bits against rank 0's, by point-to-point messages. */
static void check_same_on_all_ranks(const void* result, size_t bytes, int count) {
  if (world_rank == 0) {
    for (int rank = 1; rank < world_size; rank++) MPI_Send(result, (int)bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
    return;
  }
  void* first = malloc(bytes + 1);
  MPI_Recv(first, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(memcmp(first, result, bytes) == 0, "%d elements: other bits than on rank 0", count);
  free(first);
}

static bool deterministic(void) {
  const char* value = getenv("STRETTO_DETERMINISTIC");
  return value != NULL && strcmp(value, "1") == 0;
}

static void run(bool is_float, int count) {
  const size_t bytes = (size_t)count * (is_float ? sizeof(float) : sizeof(double));
  void* input = malloc(bytes);
  void* result = malloc(bytes);
  void* first = malloc(bytes);
  for (int i = 0; i < count; i++) {
    if (is_float)
      ((float*)input)[i] = (float)wide_value(world_rank, i);
    else
      ((double*)input)[i] = wide_value(world_rank, i);
  }
  const int rounds = check_algorithm == NULL || is_thorough() ? 12 : 4;
  for (int round = 0; round < rounds; round++) {
    random_delay(&delays, 2000);
    MPI_Allreduce(input, result, count, is_float ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_bound(result, is_float, count);
    check_same_on_all_ranks(result, bytes, count);
    if (round == 0) memcpy(first, result, bytes);
    if (deterministic()) CHECK(memcmp(first, result, bytes) == 0, "round %d: other bits than in round 0", round);
    hash(result, bytes);
    const int root = round % world_size;
    MPI_Reduce(input, result, count, is_float ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    if (world_rank == root) check_bound(result, is_float, count);
  }
  free(input);
  free(result);
  free(first);
}

static void run_all(void) {
  const int counts[] = {1, 13, 2000, 30011};
  all_results = 1469598103934665603u;
  for (int c = 0; c < 4; c++)
    for (int is_float = 0; is_float < 2; is_float++) run(is_float, counts[c]);
  const char* name = check_algorithm == NULL ? "environment" : check_algorithm;
  if (world_rank == 0) printf("hash: %s %016llx\n", name, (unsigned long long)all_results);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  /* A seed from the clock: two runs have different orders of arrival, which must not show. */
  delays = 1u | ((uint32_t)time(NULL) << 8) | ((uint32_t)getpid() << 1);
  with_each_algorithm(&run_all);
  return finish();
}
