/* What a program's children find in LD_PRELOAD, before MPI_Init and after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../settle.h"

static void ask_child(const char* when) {
  char command[200];
  snprintf(command, sizeof command,
           "echo \"%s: LD_PRELOAD=$LD_PRELOAD\"; grep -q libstretto /proc/self/maps && echo \"%s: loaded\"", when,
           when);
  fflush(stdout);
  if (system(command) < 0) exit(1);
}

int main(int argc, char** argv) {
  ask_child("before");
  MPI_Init(&argc, &argv);
  ask_child("after");
  settle();
  MPI_Finalize();
  return 0;
}
