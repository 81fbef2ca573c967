/* How much of a non-blocking collective hides behind computation, a plain MPI program that measures it as the OSU
 * micro-benchmarks (osu_iallreduce and its kin) and IMB-NBC do. Run by overlap.py and tests/mpi/test_overlap.py.
 *
 * Arguments: file, collective, iterations, calls of MPI_Test, then BYTES or BYTES:UNITS for each size; BYTES are those
 * of a block where there is one for each rank. Root is 0. Every iteration goes through the modes of kModes in a rotated
 * order, each behind a barrier. The computation is a fixed number of units of work: as many as take, with all ranks
 * computing at once, as long as the call alone; UNITS adds modes with that many, to compare libraries at equal work.
 * Rank 0 writes a line of JSON into the file for each size, times as means over the iterations, by rank. A wrong result
 * aborts the job.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAllreduce, kReduce, kBcast, kAllgather, kAlltoall, kGather, kScatter, kBarrier, kKinds };
enum { kWarmUp = 3, kCalibrations = 9, kSide = 32, kModeCount = 7, kOwnModes = 4 };

static const char* const kNames[kKinds] = {"iallreduce", "ireduce", "ibcast",   "iallgather",
                                           "ialltoall",  "igather", "iscatter", "ibarrier"};

typedef struct {
  double total_s;
  double start_s; /* in MPI_I... */
  double compute_s;
  double test_s; /* in MPI_Test; what is left of the total is MPI_Wait's */
} Times;

enum { kTimes = sizeof(Times) / sizeof(double) };

typedef struct {
  const char* name;
  bool calls, computes, tests, common;
} Mode;

static const Mode kModes[kModeCount] = {
    {"pure", true, false, false, false},        {"alone", false, true, false, false},
    {"untested", true, true, false, false},     {"tested", true, true, true, false},
    {"common_alone", false, true, false, true}, {"common_untested", true, true, false, true},
    {"common_tested", true, true, true, true},
};

static int kind, rank, size, count; /* doubles in a block */
static int number;                  /* of the call, so that no old result passes for a new one */
static double *input, *output;
static volatile float sink; /* or the compiler would drop the work */

static double value_at(int of_rank, long index) { return 16777259.0 * of_rank + (double)index + 7919.0 * number; }

static long input_length(void) {
  if (kind == kBarrier || kind == kBcast || (kind == kScatter && rank != 0)) return 0;
  return (long)count * (kind == kAlltoall || kind == kScatter ? size : 1);
}

static long output_length(void) {
  if (kind == kBarrier || ((kind == kReduce || kind == kGather) && rank != 0)) return 0;
  return (long)count * (kind == kAllgather || kind == kAlltoall || kind == kGather ? size : 1);
}

static double expected_at(long i) {
  switch (kind) {
    case kAllreduce:
    case kReduce:
      return 16777259.0 * size * (size - 1) / 2 + size * ((double)i + 7919.0 * number);
    case kAllgather:
    case kGather:
      return value_at((int)(i / count), i % count);
    case kAlltoall:
      return value_at((int)(i / count), (long)rank * count + i % count);
    case kScatter:
      return value_at(0, (long)rank * count + i);
    default:
      return value_at(0, i);
  }
}

static void fill(void) {
  number++;
  for (long i = 0; i < input_length(); i++) input[i] = value_at(rank, i);
  for (long i = 0; kind == kBcast && rank == 0 && i < count; i++) output[i] = value_at(0, i);
}

static void check(void) {
  for (long i = 0; i < output_length(); i++) {
    if (output[i] == expected_at(i)) continue;
    fprintf(stderr, "%s of %d, call %d: rank %d has %.0f at %ld instead of %.0f\n", kNames[kind], count, number, rank,
            output[i], i, expected_at(i));
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
}

static void start_call(MPI_Request* request) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  switch (kind) {
    case kAllreduce:
      MPI_Iallreduce(input, output, count, type, MPI_SUM, world, request);
      break;
    case kReduce:
      MPI_Ireduce(input, output, count, type, MPI_SUM, 0, world, request);
      break;
    case kBcast:
      MPI_Ibcast(output, count, type, 0, world, request);
      break;
    case kAllgather:
      MPI_Iallgather(input, count, type, output, count, type, world, request);
      break;
    case kAlltoall:
      MPI_Ialltoall(input, count, type, output, count, type, world, request);
      break;
    case kGather:
      MPI_Igather(input, count, type, output, count, type, 0, world, request);
      break;
    case kScatter:
      MPI_Iscatter(input, count, type, output, count, type, 0, world, request);
      break;
    default:
      MPI_Ibarrier(world, request);
  }
}

/* A unit is a product of a small matrix and a vector, which stays in the first cache. */
static void compute(long units) {
  static float matrix[kSide][kSide], vector[kSide], product[kSide];
  if (vector[0] == 0) {
    for (int i = 0; i < kSide; i++) vector[i] = 1.0f / (float)(i + 1);
    for (int i = 0; i < kSide * kSide; i++) matrix[i / kSide][i % kSide] = 1.0f / (float)(i + 1);
  }
  for (long unit = 0; unit < units; unit++) {
    for (int row = 0; row < kSide; row++) {
      float sum = 0;
      for (int column = 0; column < kSide; column++) sum += matrix[row][column] * vector[column];
      product[row] = sum;
    }
    vector[unit % kSide] = 1 + 1e-3f * product[unit % kSide];
  }
  sink = vector[0];
}

static int compare(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

/* Of the means over the ranks; the same on all of them. A mean over the calls would be the slowest one's. */
static double median_of_means(const double mine[kCalibrations]) {
  double means[kCalibrations];
  MPI_Allreduce(mine, means, kCalibrations, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  qsort(means, kCalibrations, sizeof means[0], compare);
  return means[kCalibrations / 2] / size;
}

/* With all ranks at it, as in the measurement: ranks may share cores. */
static double seconds_per_unit(void) {
  const double kEnough_s = 0.02;
  double median_s = 0;
  for (long units = 1024; median_s * (double)units < kEnough_s; units *= 2) {
    double mine[kCalibrations];
    for (int i = 0; i < kCalibrations; i++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      compute(units);
      mine[i] = (MPI_Wtime() - start) / (double)units;
    }
    median_s = median_of_means(mine);
  }
  return median_s;
}

/* Between two pieces of the computation comes a test. */
static Times run_mode(Mode mode, long units, int tests) {
  MPI_Request request = MPI_REQUEST_NULL;
  Times times = {0, 0, 0, 0};
  int done;
  if (mode.calls) fill();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (mode.calls) start_call(&request);
  times.start_s = MPI_Wtime() - start;
  const int pieces = !mode.computes ? 0 : mode.tests ? tests + 1 : 1;
  for (int piece = 0; piece < pieces; piece++) {
    const double before = MPI_Wtime();
    if (piece > 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    const double tested = MPI_Wtime();
    compute(units * (piece + 1) / pieces - units * piece / pieces);
    times.test_s += tested - before;
    times.compute_s += MPI_Wtime() - tested;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  times.total_s = MPI_Wtime() - start;
  if (mode.calls) check();
  return times;
}

/* Of the call alone. */
static double pure_seconds(void) {
  double mine[kCalibrations];
  for (int call = 0; call < kWarmUp; call++) run_mode(kModes[0], 0, 0);
  for (int call = 0; call < kCalibrations; call++) mine[call] = run_mode(kModes[0], 0, 0).total_s;
  return median_of_means(mine);
}

/* `all` are the times of all modes, rank by rank. */
static void write_modes(FILE* file, const Times* all, int modes) {
  static const char* const kTimeNames[kTimes] = {"total_s", "start_s", "compute_s", "test_s"};
  for (int mode = 0; mode < modes; mode++) {
    fprintf(file, "%s\"%s\":{", mode == 0 ? "" : ",", kModes[mode].name);
    for (int time = 0; time < kTimes; time++) {
      fprintf(file, "%s\"%s\":[", time == 0 ? "" : ",", kTimeNames[time]);
      for (int r = 0; r < size; r++)
        fprintf(file, "%s%.9f", r == 0 ? "" : ",", ((const double*)&all[r * kModeCount + mode])[time]);
      fprintf(file, "]");
    }
    fprintf(file, "}");
  }
}

static void measure(FILE* file, long bytes, long common_units, int iterations, int tests, double unit_s) {
  Times mine[kModeCount];
  Times* all = calloc((size_t)size * kModeCount, sizeof *all);
  count = (int)(bytes / (long)sizeof(double));
  input = calloc((size_t)size * (size_t)count + 1, sizeof(double));
  output = calloc((size_t)size * (size_t)count + 1, sizeof(double));
  if (all == NULL || input == NULL || output == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
  }
  memset(mine, 0, sizeof mine);
  const long own_units = 1 + (long)(pure_seconds() / unit_s);
  const int modes = common_units > 0 ? kModeCount : kOwnModes;
  for (int step = 0; step < iterations * modes; step++) {
    const int at = (step + step / modes) % modes;
    const Times times = run_mode(kModes[at], kModes[at].common ? common_units : own_units, tests);
    for (int time = 0; time < kTimes; time++) ((double*)&mine[at])[time] += ((const double*)&times)[time] / iterations;
  }
  MPI_Gather(mine, kModeCount * kTimes, MPI_DOUBLE, all, kModeCount * kTimes, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (file != NULL) {
    fprintf(file, "{\"bytes\":%ld,\"units\":%ld,\"modes\":{", bytes, own_units);
    write_modes(file, all, modes);
    fprintf(file, "}}\n");
  }
  free(output);
  free(input);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (argc > 2 && kind < kKinds && strcmp(argv[2], kNames[kind]) != 0) kind++;
  if (argc < 6 || kind == kKinds) MPI_Abort(MPI_COMM_WORLD, 2);
  FILE* file = rank == 0 ? fopen(argv[1], "w") : NULL;
  if (rank == 0 && file == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  const double unit_s = seconds_per_unit();
  for (int i = 5; i < argc; i++) {
    char* end;
    const long bytes = strtol(argv[i], &end, 10);
    measure(file, bytes, *end == ':' ? atol(end + 1) : 0, atoi(argv[3]), atoi(argv[4]), unit_s);
  }
  if (file != NULL) fclose(file);
  MPI_Finalize();
  return 0;
}
