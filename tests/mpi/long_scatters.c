/* Scatters of long blocks: the memory that Stretto's takes is dear to make, so by default the MPI library serves them
 * until there have been many; and whoever is root next finds in it what others have written. */
#include "collectives.h"

enum { kBlock = 300000, kCalls = 24, kEarlier = 16 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  const bool chooses = stretto_expected() && forced_algorithm("scatter") == NULL;
  for (int i = 0; i < kCalls; i++) {
    const Call scatter = {kScatter, kBlock, i % world_size, i, false};
    run_call(MPI_COMM_WORLD, &scatter);
    check_forced("scatter", kBlock * 8);
    const char* ran = last_algorithm("scatter");
    const bool native = ran != NULL && strcmp(ran, "native") == 0;
    if (chooses) CHECK(native == (i < kEarlier), "call %d was served by %s", i, ran == NULL ? "(null)" : ran);
  }
  return finish();
}
