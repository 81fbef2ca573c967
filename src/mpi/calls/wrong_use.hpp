// Errors of programs whose ranks are in different calls (docs/decisions/0023-wrong-use.md).
#pragma once

#include <mpi.h>

#include "mpi/engine/call_watch.hpp"

namespace stretto::mpi {

/// Says on standard error what is wrong, once a process, and calls the communicator's error handler. Returns the class
/// of the error: MPI_ERR_TRUNCATE where only counts differ, else MPI_ERR_ROOT, MPI_ERR_OP or MPI_ERR_OTHER.
int raise(const Fault& fault, Collective collective, int rank, MPI_Comm comm);

}  // namespace stretto::mpi
