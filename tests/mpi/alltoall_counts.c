/* MPI_Alltoall and MPI_Alltoallv. */
#include "exchanges.h"

static void run_all(void) { exchanges_run_all(&kBlockingExchanges, "alltoall"); }

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_all);
  return finish();
}
