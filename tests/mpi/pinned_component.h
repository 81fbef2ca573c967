/* For programs that run without Stretto: what src/mpi/entry/pinned_component.hpp tells of would fail one job in a
 * thousand. */
#ifndef STRETTO_TESTS_PINNED_COMPONENT_H
#define STRETTO_TESTS_PINNED_COMPONENT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* After MPI_Init. */
static inline void pin_pmix_component(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4352];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "/mca_pmix_") == NULL) continue;
    line[strcspn(line, "\n")] = '\0';
    if (dlopen(strchr(line, '/'), RTLD_LAZY | RTLD_NOLOAD | 0x1000 /* RTLD_NODELETE, of GNU */) != NULL) break;
  }
  if (maps != NULL) fclose(maps);
}

#endif
