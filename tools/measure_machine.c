/* The program that `stretto tune --machine` starts under the launcher that the user names: lets Stretto measure. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int (*measure)(const char*) = NULL;
  void* symbol = dlsym(RTLD_DEFAULT, "Stretto_measure_machine");
  memcpy(&measure, &symbol, sizeof measure);
  if (argc != 2 || measure == NULL) {
    fprintf(stderr, "stretto-machine: is started by `stretto tune --machine`, with Stretto and the name of a file\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  const int result = measure(argv[1]);
  MPI_Finalize();
  return result;
}
