/* For programs of tests, which may end as soon as they have begun. */
#ifndef STRETTO_TESTS_SETTLE_H
#define STRETTO_TESTS_SETTLE_H

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether a thread of this process but the caller has something to do. */
static inline int any_thread_runs(void) {
  int any = 0;
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
    char path[64], line[512] = "";
    if (atol(entry->d_name) == 0 || atol(entry->d_name) == syscall(SYS_gettid)) continue;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
    FILE* file = fopen(path, "r");
    if (file == NULL) continue;
    const char* state = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
    any = any || (state != NULL && state[2] != 'S');
    fclose(file);
  }
  if (threads != NULL) closedir(threads);
  return any;
}

/* Open MPI 4.1 tears down what a thread of its own still handles: in MPI_Init it tells itself of an event, and where
 * that is not through when MPI_Finalize comes, one job in a thousand ends by a signal there, with or without Stretto.
 * Called before MPI_Finalize: its threads have nothing to do twice in a row, or do so all the time. */
static inline void settle(void) {
  for (int look = 0, quiet = 0; look < 10000 && quiet < 2; look++) {
    quiet = any_thread_runs() ? 0 : quiet + 1;
    sched_yield();
  }
}

#endif
