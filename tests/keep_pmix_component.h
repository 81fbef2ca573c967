/* For programs of tests, which may end as soon as they have begun. */
#ifndef STRETTO_TESTS_KEEP_PMIX_COMPONENT_H
#define STRETTO_TESTS_KEEP_PMIX_COMPONENT_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Open MPI 4.1 unloads its PMIx component before it ends the thread that may yet run a handler of it: one short job in
 * a thousand ends by a signal in MPI_Finalize, with or without Stretto. Called after MPI_Init it stays loaded. */
static inline void keep_pmix_component(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char* path = strchr(line, '/');
    if (path == NULL || strstr(path, "/mca_pmix_") == NULL) continue;
    path[strcspn(path, "\n")] = '\0';
    dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    break;
  }
  if (maps != NULL) fclose(maps);
}

#endif
