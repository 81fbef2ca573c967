/* For libraries that stand behind Stretto and count the calls that it makes of the MPI library, PMPI_X. The program's
 * own, MPI_X, are not counted. */
#ifndef STRETTO_TESTS_COUNTED_CALLS_H
#define STRETTO_TESTS_COUNTED_CALLS_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int made;

#define COUNTED(name, parameters, arguments)                                    \
  int PMPI_##name parameters {                                                  \
    int(*next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, "PMPI_" #name); \
    made++;                                                                     \
    return next arguments;                                                      \
  }

#endif
