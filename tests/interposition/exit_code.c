/* Ends with the code in its argument, after a child process and a collective. */
#include "../mpi/check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(system("exit 5") == 5 << 8, "a child process' exit code got lost");
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = finish();
  return code != 0 ? code : argc > 1 ? atoi(argv[1]) : 0;
}
