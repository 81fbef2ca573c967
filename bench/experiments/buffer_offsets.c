/* What calls take by where in their pages the program's buffers begin: the MPI library's own and Stretto's in turn, in
 * one run under Stretto. Run by buffer_offsets.py.
 *
 * Arguments: file, calls of a kind, offsets of the buffers in bytes. Rank 0 writes a line of JSON for each collective,
 * length and offset: of each call what the slowest rank took in it, in us, natively, which Stretto passes on, and as it
 * chooses.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kRoom = 8 << 20, kMost = 10000, kLengths = 4 };
typedef enum { kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kKinds } Kind;
static const char* const kNames[kKinds] = {"bcast", "reduce", "allreduce", "allgather", "alltoall"};
static const int kBytes[kLengths] = {4 << 10, 32 << 10, 256 << 10, 1 << 20}; /* of all blocks together */

static const char* const kWays[2] = {"native", "default"};

static int rank, size;

/* Memory that begins with a page, and has been touched. */
static char* pages(void) {
  char* memory = mmap(NULL, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void run(Kind kind, char* in, char* out, int bytes) {
  const int floats = bytes / (int)sizeof(float), block = bytes / size;
  switch (kind) {
    case kBcast:
      MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
      break;
    case kReduce:
      MPI_Reduce(in, out, floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
      break;
    case kAllreduce:
      MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case kAllgather:
      MPI_Allgather(in, block, MPI_BYTE, out, block, MPI_BYTE, MPI_COMM_WORLD);
      break;
    default:
      MPI_Alltoall(in, block, MPI_BYTE, out, block, MPI_BYTE, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = atoi(argv[2]);
  if (calls > kMost) return MPI_Abort(MPI_COMM_WORLD, 1);
  int (*force)(const char*, const char*);
  *(void**)&force = dlsym(RTLD_DEFAULT, "Stretto_force");
  if (force == NULL) return MPI_Abort(MPI_COMM_WORLD, 1);
  char *in = pages(), *out = pages();
  FILE* file = rank == 0 ? fopen(argv[1], "w") : NULL;
  if (rank == 0 && file == NULL) return MPI_Abort(MPI_COMM_WORLD, 1);
  static double took[2][kMost], most[2][kMost];
  for (int kind = 0; kind < kKinds; kind++) {
    for (int length = 0; length < kLengths; length++) {
      for (int at = 3; at < argc; at++) {
        const int offset = atoi(argv[at]);
        for (int call = -2; call < calls; call++) {
          for (int turn = 0; turn < 2; turn++) {
            const int way = (turn + call) & 1;
            if (force(kNames[kind], kWays[way]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = MPI_Wtime();
            run(kind, in + offset, out + offset, kBytes[length]);
            if (call >= 0) took[way][call] = 1e6 * (MPI_Wtime() - begin);
          }
        }
        for (int way = 0; way < 2; way++)
          PMPI_Reduce(took[way], most[way], calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (file == NULL) continue;
        fprintf(file, "{\"collective\": \"%s\", \"bytes\": %d, \"offset\": %d", kNames[kind], kBytes[length], offset);
        for (int way = 0; way < 2; way++) {
          fprintf(file, ", \"%s_us\": [", kWays[way]);
          for (int call = 0; call < calls; call++) fprintf(file, "%s%.3f", call ? ", " : "", most[way][call]);
          fprintf(file, "]");
        }
        fprintf(file, "}\n");
      }
    }
  }
  if (file != NULL) fclose(file);
  MPI_Finalize();
  return 0;
}
