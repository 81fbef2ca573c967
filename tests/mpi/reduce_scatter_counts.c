/* MPI_Reduce_scatter_block and MPI_Reduce_scatter. */
#include "exchanges.h"

static void run_all(void) { exchanges_run_all(&kBlockingExchanges, "reduce_scatter"); }

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_all);
  return finish();
}
