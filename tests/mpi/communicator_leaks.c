/* Communicators made and freed in a loop: descriptors and mappings stay bounded. Then many of them alive at once. */
#include <dirent.h>

#include "collectives.h"

enum { kWarmUp = 40, kLoops = 240, kAlive = 100 };

static int open_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(directory) != NULL) n++;
  closedir(directory);
  return n;
}

static int mappings(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  int n = 0;
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) n += c == '\n';
  fclose(file);
  return n;
}

static void use(MPI_Comm comm, int salt) {
  int size;
  MPI_Comm_size(comm, &size);
  for (int collective = 0; collective < kCollectives; collective++) {
    const Call call = {collective, 1 + salt % 3 * 2000, salt % size, salt, false};
    run_call(comm, &call);
  }
}

static void make_and_free(int from, int to) {
  for (int i = from; i < to; i++) {
    MPI_Comm comm;
    if (i % 2 == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &comm);
    use(comm, i);
    MPI_Comm_free(&comm);
  }
}

static void check_bounded(const char* what, int fds_before, int maps_before) {
  const int fds = open_descriptors() - fds_before, maps = mappings() - maps_before;
  CHECK(fds <= 8, "%s: %d more open descriptors than before", what, fds);
  CHECK(maps <= 32, "%s: %d more mappings than before", what, maps);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  make_and_free(0, kWarmUp);
  const int fds = open_descriptors(), maps = mappings();
  make_and_free(kWarmUp, kLoops);
  check_bounded("200 communicators made and freed one after another", fds, maps);

  static MPI_Comm alive[kAlive];
  for (int i = 0; i < kAlive; i++) MPI_Comm_dup(MPI_COMM_WORLD, &alive[i]);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < kAlive; i++) use(alive[i], i + round);
  for (int i = 0; i < kAlive; i++) MPI_Comm_free(&alive[i]);
  make_and_free(0, kWarmUp);
  check_bounded("100 communicators alive at once, then freed", fds, maps);
  return finish();
}
