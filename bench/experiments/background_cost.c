/* What Stretto's thread costs this process, a plain MPI program that does nothing but gather and sleep. Run by
 * background_cost.py and tests/mpi/test_background_thread.py.
 *
 * Arguments: seconds to sleep with nothing begun ahead, and again with a call begun ahead; calls to make after short
 * pauses; calls to make while the root sleeps. Each rank prints a line of JSON. The thread is found by
 * its name, "stretto", and its CPU time read from its clock.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSmall = 1000, kLarge = 1 << 20, kLearning = 20, kPauseMs = 5, kLateMs = 60 };

/* Of the thread; of no use where there is none. */
typedef struct {
  double at_s, cpu_s;
  long naps; /* how often it has gone to sleep */
} Usage;

static char* buffer;
static int rank, size, thread_id;

static double seconds(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_ms(double ms) {
  const long whole_s = (long)(ms / 1e3);
  const struct timespec time = {whole_s, (long)(1e6 * (ms - 1e3 * (double)whole_s))};
  nanosleep(&time, NULL);
}

/* The text behind "key:" in the kernel's status of a thread; empty if there is none. */
static void read_status(int thread, const char* key, char value[128]) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
  value[0] = '\0';
  FILE* stream = fopen(path, "r");
  while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
    if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
      sscanf(line + strlen(key) + 1, " %127[^\n]", value);
  if (stream != NULL) fclose(stream);
}

/* 0 if there is none. */
static int find_thread(void) {
  int found = 0;
  DIR* all = opendir("/proc/self/task");
  for (const struct dirent* entry; all != NULL && (entry = readdir(all)) != NULL;) {
    char name[128];
    const int thread = atoi(entry->d_name);
    if (thread > 0) read_status(thread, "Name", name);
    if (thread > 0 && strcmp(name, "stretto") == 0) found = thread;
  }
  if (all != NULL) closedir(all);
  return found;
}

static Usage usage(void) {
  Usage now = {seconds(CLOCK_MONOTONIC), 0, 0};
  char text[128];
  if (thread_id == 0) return now;
  now.cpu_s = seconds((clockid_t)((~(unsigned)thread_id << 3) | 6)); /* as the kernel numbers the clocks of threads */
  read_status(thread_id, "voluntary_ctxt_switches", text);
  now.naps = atol(text);
  return now;
}

static void print_since(const char* name, Usage before) {
  const Usage now = usage();
  printf(",\"%s\":{\"wall_s\":%.6f,\"cpu_s\":%.9f,\"naps\":%ld}", name, now.at_s - before.at_s,
         now.cpu_s - before.cpu_s, now.naps - before.naps);
}

static void gather(int bytes, int root) {
  MPI_Gather(buffer, bytes, MPI_BYTE, buffer + kLarge, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

/* Until Stretto expects the same call again. */
static void learn(int bytes) {
  for (int call = 0; call < kLearning; call++) gather(bytes, 0);
}

/* Until the thread has gone to sleep for good: it may, some time after there was something to do. */
static void await_rest(void) {
  enum { kMostLooks = 200 };
  long naps = -1;
  for (int look = 0; thread_id > 0 && look < kMostLooks && naps != usage().naps; look++) {
    naps = usage().naps;
    sleep_ms(10 * kPauseMs);
  }
}

/* A call that has not come before, so that nothing is expected to follow it. */
static void sleep_idle(double for_s) {
  char state[128], cores[128];
  learn(kSmall);
  gather(kSmall, size - 1);
  sleep_ms(kPauseMs);
  thread_id = find_thread();
  await_rest();
  const Usage before = usage();
  sleep_ms(1e3 * for_s);
  read_status(thread_id, "State", state);
  read_status(thread_id, "Cpus_allowed_list", cores);
  printf("\"thread\":%s,\"state\":\"%.1s\",\"cores\":\"%s\"", thread_id > 0 ? "true" : "false", state, cores);
  print_since("idle", before);
}

/* The others come late, and the root later still: first messages are awaited all the time, then none. */
static void sleep_with_a_call_begun(double for_s) {
  learn(kSmall);
  sleep_ms(kPauseMs);
  const Usage begun = usage();
  sleep_ms(1e3 * for_s);
  print_since("begun", begun);
  if (rank != 0) gather(kSmall, 0);
  await_rest();
  const Usage come = usage();
  sleep_ms(500 * for_s);
  print_since("come", come);
  if (rank == 0) gather(kSmall, 0);
}

static void call(int calls) {
  learn(kSmall);
  const Usage before = usage();
  for (int i = 0; i < calls; i++) {
    sleep_ms(kPauseMs);
    gather(kSmall, 0);
  }
  print_since("calls", before);
}

/* How long a rank is held up in a call whose root's thread takes its data while the root sleeps. */
static void call_a_late_root(int calls) {
  learn(kLarge);
  printf(",\"held_up_s\":[");
  for (int i = 0; i < calls; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    sleep_ms(rank == 0 ? 2 * kLateMs : kLateMs + (double)(7 * i % 10));
    const double arrival_s = seconds(CLOCK_MONOTONIC);
    gather(kLarge, 0);
    printf("%s%.7f", i == 0 ? "" : ",", seconds(CLOCK_MONOTONIC) - arrival_s);
  }
  printf("]");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffer = calloc((size_t)size + 1, kLarge);
  if (buffer == NULL) return MPI_Abort(MPI_COMM_WORLD, 3);
  static char line[1 << 16]; /* printed at once, or the lines of two ranks would mix */
  setvbuf(stdout, line, _IOFBF, sizeof line);
  printf("{\"rank\":%d,", rank);
  sleep_idle(atof(argv[1]));
  sleep_with_a_call_begun(atof(argv[2]));
  call(atoi(argv[3]));
  call_a_late_root(atoi(argv[4]));
  printf("}\n");
  fflush(stdout);
  free(buffer);
  MPI_Finalize();
  return 0;
}
