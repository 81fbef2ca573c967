// The benchmark driver, started by `stretto bench` under mpirun: key=value arguments in, JSON lines out.
// Exit codes: 0 measured, 1 a wrong result or a broken promise, 2 a request that cannot be carried out.
#include <mpi.h>

#include <cstdio>

#include "measure.hpp"

int main(int argc, char** argv) {
  using namespace stretto::bench;
  MPI_Init(&argc, &argv);
  int rank = 0, exit_code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Options options = parse_options(argc, argv);
    World world;
    Measurement(options, world).run();
  } catch (const UsageError& error) {
    if (rank == 0) std::fprintf(stderr, "stretto-bench: %s\n", error.what());
    exit_code = 2;
  } catch (const std::exception& error) {
    World::fail(error.what());
  }
  MPI_Finalize();
  return exit_code;
}
