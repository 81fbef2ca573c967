/* Collectives of all kinds, types, roots and forms on buffers that lie in a GPU's memory on some ranks and not on
 * others, each after the same call on the processor's memory, which says what is right. The driver (fake_gpu.c) is
 * loaded after MPI_Init, as CUDA's runtime does.
 *
 * gpu_buffers DRIVER SEED CALLS [ordered]: each rank prints how many calls differed, how often the driver has
 * copied, and how many parts of Stretto's own libraries it has loaded later. */
#include <dlfcn.h>

#include "../fuzz/calls.h"
#include "../settle.h"
#include "fake_gpu.h"

static void* (*allocate)(size_t, int);
static void (*release)(void*);
static void (*write_to)(void*, const void*, size_t);
static void (*read_from)(const void*, void*, size_t);

static void* function(void* driver, const char* name) {
  void* found = dlsym(driver, name);
  if (found == NULL) abort();
  return found;
}

/* What Stretto leaves to the MPI library may not be on a GPU here: scans, reductions of bytes, those of a user's
 * operation that are not blocking, and, without `ordered`, all of operations that do not commute. */
static bool is_served(const Step* step, bool ordered) {
  if (step->kind == kBarrier || step->kind == kScan || step->kind == kExscan || step->count == 0) return false;
  if (!reduces(step->kind)) return true;
  return step->type != kBytes && (step->type != kAffine || (ordered && !step->later));
}

static Step draw_served_step(uint64_t* state, bool ordered) {
  Step step;
  do {
    step = draw_step(draw(state), world_size);
    step.persistent = false;
  } while (!is_served(&step, ordered));
  return step;
}

static void run(const Step* step, const Comm* comm, const Side* side, Ends ends) {
  if (!step->later) {
    run_blocking(step, comm, side, ends);
    return;
  }
  MPI_Request request;
  run_later(step, comm, side, ends, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static size_t whole(Buffer buffer) { return buffer.bytes + 2 * kGuard; }

/* Returns where the buffer is now; `*end`, if it is its address, goes with it. */
static char* move_to_gpu(Buffer buffer, const void** end, int kind) {
  char* there = allocate(whole(buffer), kind);
  write_to(there, buffer.memory, whole(buffer));
  if (*end == data_of(buffer)) *end = there + kGuard;
  memset(buffer.memory, 0x5A, whole(buffer));
  return there;
}

static void move_back(Buffer buffer, char* there) {
  read_from(there, buffer.memory, whole(buffer));
  release(there);
}

static uint64_t on_host(const Step* step, const Comm* comm) {
  Side side;
  uint64_t seen = 0;
  const Ends ends = prepare_side(step, comm, &side);
  run(step, comm, &side, ends);
  end_side(step, comm->rank, &side, &seen);
  return seen;
}

static uint64_t on_gpu(const Step* step, const Comm* comm, uint64_t state) {
  Side side;
  uint64_t seen = 0;
  Ends ends = prepare_side(step, comm, &side);
  char *send = NULL, *recv = NULL;
  const void* out = ends.out;
  if (one_in(&state, 2)) send = move_to_gpu(side.send, &ends.in, pick(&state, kGpuMemories));
  if (one_in(&state, 2)) recv = move_to_gpu(side.recv, &out, pick(&state, kGpuMemories));
  ends.out = (void*)out;
  run(step, comm, &side, ends);
  if (send != NULL) move_back(side.send, send);
  if (recv != NULL) move_back(side.recv, recv);
  end_side(step, comm->rank, &side, &seen);
  return seen;
}

/* The program loads other libraries, too. Stretto, which sees what comes behind a library of its own, then loads copies
 * of that; returns how many parts of them are in memory. */
static int load_others(void) {
  const char* const others[] = {"libanl.so.1", "libBrokenLocale.so.1"};
  int parts = 0;
  for (int other = 0; other < 2; other++) {
    if (dlopen(others[other], RTLD_NOW | RTLD_LOCAL) == NULL) return 0;
    for (int call = 0; call < 1200; call++) {
      int one = 1, sum = 0;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) parts += strstr(line, "memfd:stretto-last") != NULL;
  fclose(maps);
  return parts;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Comm world = {MPI_COMM_WORLD, (MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), world_rank),
                      (MPI_Comm_size(MPI_COMM_WORLD, &world_size), world_size)};
  make_types();
  uint64_t state = mixed((uint64_t)atoll(argv[2]));
  const bool ordered = argc > 4;
  const Step before = draw_served_step(&state, ordered);
  on_host(&before, &world); /* there is no driver yet */
  const int parts = load_others();
  void* driver = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (driver == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  allocate = function(driver, "fake_gpu_allocate");
  release = function(driver, "fake_gpu_free");
  write_to = function(driver, "fake_gpu_write");
  read_from = function(driver, "fake_gpu_read");
  int differ = 0;
  for (int call = atoi(argv[3]); call > 0; call--) {
    const Step step = draw_served_step(&state, ordered);
    const uint64_t expected = on_host(&step, &world);
    if (on_gpu(&step, &world, mixed(step.seed + (uint64_t)world_rank)) == expected) continue;
    differ++;
    printf("rank %d kind %d type %d count %d root %d in place %d later %d\n", world_rank, step.kind, step.type,
           step.count, step.root, step.in_place, step.later);
  }
  int (*copies)(void) = function(driver, "fake_gpu_copies");
  printf("rank %d: %d calls differ, %d copies, %d parts\n", world_rank, differ, copies(), parts);
  free_types();
  settle();
  MPI_Finalize();
  return 0;
}
