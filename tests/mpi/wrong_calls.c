/* Programs that are wrong, under MPI_ERRORS_RETURN. In `different` ranks are in different calls: all get an error, in
 * that call or in the barrier after it, and nobody waits for ever. In `counts` there is more data than room, or less:
 * who has too little room gets MPI_ERR_TRUNCATE and what there is room for, and the communicator stays good. */
#include "check.h"

enum { kMost = 40000 };
static int in[kMost * 8], out[kMost * 8];
static bool odd, known;

static MPI_Comm seasoned(void) { /* the first calls of a communicator are the MPI library's own */
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 17; i++) MPI_Barrier(comm);
  for (int i = 0; known && i < 3; i++) { /* with the arguments that are about to be wrong together */
    MPI_Bcast(in, 9, MPI_INT, i % world_size, comm);
    MPI_Reduce(in, out, 9, MPI_INT, MPI_SUM, i % world_size, comm);
    MPI_Allreduce(in, out, 9, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(in, out, 9, MPI_FLOAT, MPI_SUM, comm);
    for (int count = 9; count < 11; count++) MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  }
  return comm;
}

static int barrier_or_bcast(MPI_Comm comm) { return odd ? MPI_Barrier(comm) : MPI_Bcast(in, 9, MPI_INT, 0, comm); }
static int two_roots(MPI_Comm comm) { return MPI_Bcast(in, 9, MPI_INT, odd, comm); }
static int two_roots_of_reduce(MPI_Comm comm) { return MPI_Reduce(in, out, 9, MPI_INT, MPI_SUM, odd, comm); }
static int reduce_or_allreduce(MPI_Comm comm) {
  return odd ? MPI_Reduce(in, out, 9, MPI_INT, MPI_SUM, 0, comm) : MPI_Allreduce(in, out, 9, MPI_INT, MPI_SUM, comm);
}
static int reduce_or_bcast(MPI_Comm comm) { /* of two ranks neither waits for the other */
  return odd ? MPI_Reduce(in, out, 9, MPI_INT, MPI_SUM, 0, comm) : MPI_Bcast(in, 9, MPI_INT, 0, comm);
}
static int sum_or_maximum(MPI_Comm comm) { return MPI_Allreduce(in, out, 9, MPI_INT, odd ? MPI_SUM : MPI_MAX, comm); }
static int integers_or_reals(MPI_Comm comm) {
  return MPI_Allreduce(in, out, 9, odd ? MPI_INT : MPI_FLOAT, MPI_SUM, comm);
}
static int sums_of(MPI_Comm comm, int even_count, int odd_count) {
  return MPI_Allreduce(in, out, odd ? odd_count : even_count, MPI_INT, MPI_SUM, comm);
}
static int few_more(MPI_Comm comm) { return sums_of(comm, 9, 10); }
static int some_less(MPI_Comm comm) { return sums_of(comm, 3000, 2000); }
static int many_less(MPI_Comm comm) { return sums_of(comm, kMost, 30000); }
static int few_or_many(MPI_Comm comm) { return sums_of(comm, 4, kMost); }
static int many_less_to_root(MPI_Comm comm) {
  return MPI_Reduce(in, out, odd ? 20000 : 30000, MPI_INT, MPI_SUM, 0, comm);
}
static int gather_or_scatter(MPI_Comm comm) {
  return odd ? MPI_Gather(in, 900, MPI_INT, out, 900, MPI_INT, 0, comm)
             : MPI_Scatter(in, 900, MPI_INT, out, 900, MPI_INT, 0, comm);
}
static int blocks_to_all(MPI_Comm comm) {
  const int count = odd ? 1000 : 900;
  return MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
}
static int many[8];
static int* lengths(void) { /* of rank 0 another than the others think */
  for (int i = 0; i < 8; i++) many[i] = i == 0 && odd ? 700 : 600;
  return many;
}
static int blocks_of_lengths_to_all(MPI_Comm comm) {
  const int places[8] = {0, 700, 1400, 2100, 2800, 3500, 4200, 4900};
  return MPI_Allgatherv(in, lengths()[world_rank], MPI_INT, out, lengths(), places, MPI_INT, comm);
}
static int sums_of_lengths(MPI_Comm comm) { return MPI_Reduce_scatter(in, out, lengths(), MPI_INT, MPI_SUM, comm); }

static const struct {
  const char* name;
  int (*call)(MPI_Comm);
  int error; /* of whoever finds it out */
} kDifferent[] = {
    {"barrier or bcast", barrier_or_bcast, MPI_ERR_OTHER},
    {"bcast from two roots", two_roots, MPI_ERR_ROOT},
    {"reduce to two roots", two_roots_of_reduce, MPI_ERR_ROOT},
    {"reduce or allreduce", reduce_or_allreduce, MPI_ERR_OTHER},
    {"reduce or bcast", reduce_or_bcast, MPI_ERR_OTHER},
    {"sum or maximum", sum_or_maximum, MPI_ERR_OP},
    {"integers or reals", integers_or_reals, MPI_ERR_OP},
    {"allreduce of 36 or 40 bytes", few_more, MPI_ERR_TRUNCATE},
    {"allreduce of 12000 or 8000 bytes", some_less, MPI_ERR_TRUNCATE},
    {"allreduce of 160000 or 120000 bytes", many_less, MPI_ERR_TRUNCATE},
    {"allreduce of 16 or 160000 bytes", few_or_many, MPI_ERR_TRUNCATE},
    {"reduce of 120000 or 80000 bytes", many_less_to_root, MPI_ERR_TRUNCATE},
    {"gather or scatter", gather_or_scatter, MPI_ERR_OTHER},
    {"allgather of 3600 or 4000 bytes", blocks_to_all, MPI_ERR_TRUNCATE},
    {"allgatherv of 2400 or 2800 bytes of rank 0", blocks_of_lengths_to_all, MPI_ERR_TRUNCATE},
    {"reduce_scatter of 2400 or 2800 bytes of rank 0", sums_of_lengths, MPI_ERR_TRUNCATE},
};

static void run_different(void) {
  for (size_t i = 0; i < sizeof kDifferent / sizeof kDifferent[0]; i++) {
    MPI_Comm comm = seasoned();
    const int now = kDifferent[i].call(comm);
    const int after = MPI_Barrier(comm);
    const int found = now != MPI_SUCCESS ? now : after;
    CHECK(found != MPI_SUCCESS, "%s: no error", kDifferent[i].name);
    CHECK(found == kDifferent[i].error || found == MPI_ERR_OTHER, "%s: error %d", kDifferent[i].name, found);
    int any = found == kDifferent[i].error;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    CHECK(any, "%s: nobody got error %d", kDifferent[i].name, kDifferent[i].error);
    CHECK(MPI_Barrier(comm) != MPI_SUCCESS, "%s: the communicator is good again", kDifferent[i].name);
    MPI_Comm_free(&comm);
  }
}

static void run_checked(void) {
  for (size_t i = 0; i < sizeof kDifferent / sizeof kDifferent[0]; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int again = 0; again < 2; again++) {
      const int code = kDifferent[i].call(comm);
      CHECK(code == kDifferent[i].error, "%s: error %d, not %d", kDifferent[i].name, code, kDifferent[i].error);
      CHECK(MPI_Barrier(comm) == MPI_SUCCESS, "%s: the communicator is not good any more", kDifferent[i].name);
    }
    CHECK(MPI_Bcast(out, odd ? 5 : 4, MPI_INT, 0, comm) == MPI_ERR_TRUNCATE, "bcast of 16 or 20 bytes");
    MPI_Comm_free(&comm);
  }
}

static void check_result(const char* name, int code, int expected, int first, int count, int room) {
  CHECK(code == expected, "%s: error %d, not %d", name, code, expected);
  for (int i = 0; i < room; i++) {
    const int value = i < count ? first + i : -7;
    CHECK(out[i] == value, "%s: [%d] is %d, not %d", name, i, out[i], value);
  }
}

/* `sent` elements from the root to room for `room` in each other rank. */
static void broadcast(MPI_Comm comm, int root, int sent, int room) {
  char name[64];
  snprintf(name, sizeof name, "bcast of %d to %d", sent, room);
  const bool at_root = world_rank == root;
  for (int i = 0; i < kMost; i++) out[i] = at_root ? i : -7;
  const int code = MPI_Bcast(out, at_root ? sent : room, MPI_INT, root, comm);
  const int count = sent < room ? sent : room;
  if (at_root) CHECK(code == MPI_SUCCESS, "%s: error %d at the root", name, code);
  if (!at_root) check_result(name, code, sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS, 0, count, kMost);
}

static void scatter(MPI_Comm comm, int root, int sent, int room) {
  char name[64];
  snprintf(name, sizeof name, "scatter of %d to %d", sent, room);
  for (int i = 0; i < sent * world_size; i++) in[i] = i;
  for (int i = 0; i < kMost; i++) out[i] = -7;
  const bool at_root = world_rank == root;
  const int code = MPI_Scatter(in, sent, MPI_INT, out, at_root ? sent : room, MPI_INT, root, comm);
  const int count = sent < room ? sent : room;
  if (at_root) CHECK(code == MPI_SUCCESS, "%s: error %d at the root", name, code);
  if (!at_root) check_result(name, code, sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS, sent * world_rank, count, kMost);
}

static void gather(MPI_Comm comm, int root, int sent, int room) {
  char name[64];
  snprintf(name, sizeof name, "gather of %d to %d", sent, room);
  const bool at_root = world_rank == root;
  for (int i = 0; i < kMost; i++) in[i] = world_rank * kMost + i;
  for (int i = 0; i < kMost; i++) out[i] = -7;
  const int code = MPI_Gather(in, at_root ? room : sent, MPI_INT, out, room, MPI_INT, root, comm);
  if (!at_root) CHECK(code == MPI_SUCCESS, "%s: error %d", name, code);
  if (!at_root) return;
  CHECK(code == (sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "%s: error %d at the root", name, code);
  for (int i = 0; i < room * world_size; i++) {
    const int from = i / room, at = i % room;
    const int value = at < sent || from == root ? from * kMost + at : -7;
    CHECK(out[i] == value, "%s: [%d] from %d is %d, not %d", name, at, from, out[i], value);
  }
}

/* In a cache line, in the short slot, in the long one, and from one to the other. */
static const int kPairs[][2] = {{10, 12}, {20, 32}, {24, 25}, {700, 900}, {1000, 5000}, {7, 6000}};

static void run_counts(void) {
  MPI_Comm comm = seasoned();
  for (size_t i = 0; i < sizeof kPairs / sizeof kPairs[0]; i++) {
    for (int longer = 0; longer < 2; longer++) {
      const int sent = kPairs[i][longer], room = kPairs[i][1 - longer], root = (int)i % world_size;
      broadcast(comm, root, sent, room);
      scatter(comm, root, sent, room);
      gather(comm, root, sent, room);
      int sum = world_rank;
      const int code = MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
      CHECK(code == MPI_SUCCESS && sum == world_size * (world_size - 1) / 2, "error %d, sum %d", code, sum);
    }
  }
  MPI_Comm_free(&comm);
}

/* Wrong by themselves, on one rank: no call has been made, and the right one follows. */
static void run_arguments(void) {
  MPI_Comm comm = seasoned();
  for (int i = 0; i < 3; i++) {
    if (world_rank == i % world_size) {
      CHECK(MPI_Bcast(in, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "a negative count is taken");
      CHECK(MPI_Bcast(in, 1, MPI_INT, world_size, comm) != MPI_SUCCESS, "a root beyond the last rank is taken");
    }
    int sum = world_rank;
    const int code = MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(code == MPI_SUCCESS && sum == world_size * (world_size - 1) / 2, "error %d, sum %d", code, sum);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  odd = world_rank % 2 == 1;
  known = argc > 2 && strcmp(argv[2], "known") == 0;
  if (strcmp(argv[1], "different") == 0) run_different();
  if (strcmp(argv[1], "checked") == 0) run_checked();
  if (strcmp(argv[1], "counts") == 0) run_counts();
  if (strcmp(argv[1], "arguments") == 0) run_arguments();
  if (strcmp(argv[1], "fatal") == 0) kDifferent[atoi(argv[2])].call(MPI_COMM_WORLD);
  if (strcmp(argv[1], "fatal") == 0) MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
