/* Random legal MPI programs, which must have the same results natively and under Stretto.
 *
 *   fuzz FIRST COUNT             programs FIRST, FIRST + 1, ...; each rank prints a digest of all it has seen
 *   fuzz illegal SEED DIRECTORY  a program in which one rank makes a wrong call; illegal.h tells what becomes of it
 *
 * FUZZ_ALGORITHMS="allreduce ring binomial;bcast ..." names those of which each program is given some by force, two
 * programs in three. FUZZ_TRACE=1: a line for each step. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "calls.h"
#include "illegal.h"

enum { kSteps = 24, kThreads = 3, kThreadCalls = 12, kDelayUs = 2000 };

static bool has_threads;

/* ---- which algorithms ---- */

static void force(const char* collective, const char* algorithm) {
  static int (*function)(const char*, const char*);
  void* symbol = dlsym(RTLD_DEFAULT, "Stretto_force");
  memcpy(&function, &symbol, sizeof function);
  if (function == NULL) return;
  if (function(collective, algorithm) == 0) return;
  fprintf(stderr, "cannot force %s %s\n", collective, algorithm);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void force_some(uint64_t state) {
  const char* list = getenv("FUZZ_ALGORITHMS");
  if (list == NULL) return;
  const bool by_default = one_in(&state, 3);
  char *text = strdup(list), *outer = NULL;
  for (char* line = strtok_r(text, ";", &outer); line != NULL; line = strtok_r(NULL, ";", &outer)) {
    char *names[256], *inner = NULL;
    int count = 0;
    const char* collective = strtok_r(line, " ", &inner);
    while (count < 256 && (names[count] = strtok_r(NULL, " ", &inner)) != NULL) count++;
    const int chosen = pick(&state, count);
    force(collective, by_default ? "default" : names[chosen]);
  }
  free(text);
}

/* ---- communicators ---- */

static void add_comm(Program* program, MPI_Comm made) {
  Comm comm = {made, 0, 0};
  if (made != MPI_COMM_NULL) {
    MPI_Comm_rank(made, &comm.rank);
    MPI_Comm_size(made, &comm.size);
  }
  program->comms[program->comm_count++] = comm;
}

static void make_comm(Program* program, uint64_t state) {
  if (program->comm_count == kMostComms) return;
  const Comm* from = &program->comms[pick(&state, program->comm_count)];
  MPI_Comm made = MPI_COMM_NULL;
  const int way = pick(&state, 3), colours = 1 + pick(&state, 3), seed = pick(&state, 1 << 20);
  const bool backwards = one_in(&state, 2), errors_return = one_in(&state, 2);
  if (from->comm != MPI_COMM_NULL) {
    const int colour = (int)(mixed((uint64_t)(seed + from->rank)) % (uint64_t)colours);
    const bool out = way == 2 && mixed((uint64_t)(seed - from->rank)) % 4 == 0;
    if (way == 0) MPI_Comm_dup(from->comm, &made);
    if (way != 0) MPI_Comm_split(from->comm, out ? MPI_UNDEFINED : colour, backwards ? -from->rank : 0, &made);
    if (made != MPI_COMM_NULL && errors_return) MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  }
  add_comm(program, made);
}

/* MPI_COMM_WORLD, which is the first, stays. */
static void free_comm(Program* program, uint64_t state) {
  if (program->comm_count == 1) return;
  const int at = 1 + pick(&state, program->comm_count - 1);
  for (int i = program->open_count - 1; i >= 0; i--)
    if (program->open[i].comm == at) finish_open(program, i);
  if (program->comms[at].comm != MPI_COMM_NULL) MPI_Comm_free(&program->comms[at].comm);
  const int last = --program->comm_count;
  program->comms[at] = program->comms[last];
  for (int i = 0; i < program->open_count; i++)
    if (program->open[i].comm == last) program->open[i].comm = at;
}

/* ---- messages between two ranks, and remote memory ---- */

/* Round the communicator by `shift`: started here, and finished here or later. Persistent ones are run twice. */
static void exchange(Program* program, int at, uint64_t state) {
  const Comm* comm = &program->comms[at];
  const int count = draw_count(&state), shift = 1 + pick(&state, 7), tag = pick(&state, 1000);
  const bool later = one_in(&state, 2), blocking_send = one_in(&state, 4), persistent = one_in(&state, 4);
  const int to = (comm->rank + shift) % comm->size, from = (comm->rank + comm->size * 8 - shift) % comm->size;
  if (program->open_count == kMostOpen) finish_open(program, 0);
  const int index = program->open_count++;
  Open* open = &program->open[index];
  Buffer out = new_buffer((size_t)count * 8), in = new_buffer((size_t)count * 8);
  *open = (Open){{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, persistent, NULL, {out, in}, at};
  fill(data_of(out), kUnsigned, (size_t)count, state, comm->rank);
  if (persistent) {
    MPI_Recv_init(data_of(in), count, MPI_UINT64_T, from, tag, comm->comm, &open->requests[0]);
    MPI_Send_init(data_of(out), count, MPI_UINT64_T, to, tag, comm->comm, &open->requests[1]);
    MPI_Startall(2, open->requests);
    seen_code(program, MPI_Waitall(2, open->requests, MPI_STATUSES_IGNORE));
    MPI_Start(&open->requests[0]);
    MPI_Start(&open->requests[1]);
  } else {
    MPI_Irecv(data_of(in), count, MPI_UINT64_T, from, tag, comm->comm, &open->requests[0]);
    if (blocking_send) MPI_Send(data_of(out), count, MPI_UINT64_T, to, tag, comm->comm);
    if (!blocking_send) MPI_Isend(data_of(out), count, MPI_UINT64_T, to, tag, comm->comm, &open->requests[1]);
  }
  if (!later) finish_open(program, index);
}

/* What a fetch-and-add finds depends on who comes first; the sum does not. */
static void add_remotely(Program* program, uint64_t state) {
  if (program->window == MPI_WIN_NULL) return;
  const uint64_t one = mixed(state ^ (uint64_t)world_rank);
  uint64_t before;
  const int to = (int)(mixed(state) % (uint64_t)world_size), place = (int)(mixed(one) % 4);
  MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, to, place, MPI_SUM, program->window);
  MPI_Win_flush(to, program->window);
}

static void open_window(Program* program, uint64_t state) {
  program->window = MPI_WIN_NULL;
  if (!one_in(&state, 3)) return;
  MPI_Win_allocate(4 * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &program->window_data,
                   &program->window);
  memset(program->window_data, 0, 4 * sizeof(uint64_t));
  MPI_Win_lock_all(0, program->window);
  MPI_Win_sync(program->window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(Program* program) {
  if (program->window == MPI_WIN_NULL) return;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(program->window);
  MPI_Barrier(MPI_COMM_WORLD);
  digest(&program->seen, program->window_data, 4 * sizeof(uint64_t));
  MPI_Win_free(&program->window);
}

/* ---- threads, each with a communicator of its own ---- */

typedef struct {
  Program program;
  uint64_t state;
} Worker;

static void* work(void* argument) {
  Worker* worker = argument;
  for (int call = 0; call < kThreadCalls; call++) {
    if (one_in(&worker->program.own, 6)) usleep((unsigned)pick(&worker->program.own, kDelayUs));
    Step step = draw_step(draw(&worker->state), worker->program.comms[0].size);
    call_blocking(&step, &worker->program.comms[0], &worker->program);
  }
  return NULL;
}

static void run_threads(Program* program, uint64_t state) {
  if (!has_threads || !one_in(&state, 6)) return;
  Worker workers[kThreads] = {0};
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    add_comm(&workers[i].program, comm);
    workers[i].state = draw(&state);
    workers[i].program.own = draw(&program->own);
  }
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, &workers[i]);
  for (int i = 0; i < kThreads; i++) {
    pthread_join(threads[i], NULL);
    digest(&program->seen, &workers[i].program.seen, sizeof program->seen);
  }
  for (int i = 0; i < kThreads; i++) MPI_Comm_free(&workers[i].program.comms[0].comm);
}

/* ---- a program ---- */

static const char* run_step(Program* program, uint64_t state) {
  const int what = pick(&state, 21), at = pick(&state, program->comm_count), open = pick(&state, kMostOpen);
  if (one_in(&program->own, 6)) usleep((unsigned)pick(&program->own, kDelayUs));
  if (what == 0) return make_comm(program, draw(&state)), "make a communicator";
  if (what == 1) return free_comm(program, draw(&state)), "free a communicator";
  if (what == 2) return add_remotely(program, draw(&state)), "fetch and add";
  if (program->comms[at].comm == MPI_COMM_NULL) return "nothing";
  if (what <= 4) return exchange(program, at, draw(&state)), "exchange";
  if (what <= 6) {
    if (open < program->open_count) finish_open(program, open);
    return "wait";
  }
  if (what == 7) return call_between(program, at, draw(&state)), "collectives between two groups";
  return call_collective(program, at, draw(&state)), "collective";
}

static void run_program(uint64_t seed) {
  uint64_t state = mixed(seed);
  Program program = {.own = mixed(seed ^ (uint64_t)(world_rank + 1) << 32)};
  force_some(draw(&state));
  add_comm(&program, MPI_COMM_WORLD);
  open_window(&program, draw(&state));
  run_threads(&program, draw(&state));
  for (int step = 0; step < kSteps; step++) {
    const char* what = run_step(&program, draw(&state));
    if (getenv("FUZZ_TRACE") != NULL)
      printf("step %d rank %d: %s, seen %016llx\n", step, world_rank, what, (unsigned long long)program.seen);
  }
  while (program.open_count > 0) finish_open(&program, program.open_count - 1);
  close_window(&program);
  for (int i = 1; i < program.comm_count; i++)
    if (program.comms[i].comm != MPI_COMM_NULL) MPI_Comm_free(&program.comms[i].comm);
  printf("program %llu rank %d seen %016llx\n", (unsigned long long)seed, world_rank, (unsigned long long)program.seen);
  fflush(stdout);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  has_threads = provided >= MPI_THREAD_MULTIPLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  make_types();
  if (argc == 4 && strcmp(argv[1], "illegal") == 0) run_illegal(strtoull(argv[2], NULL, 10), argv[3]);
  const uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (uint64_t seed = first; seed < first + count; seed++) run_program(seed);
  free_types();
  MPI_Finalize();
  return 0;
}
