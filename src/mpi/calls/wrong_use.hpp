// Errors of programs whose ranks are in different calls (docs/decisions/0023-wrong-use.md).
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/engine/call_watch.hpp"

namespace stretto::mpi {

/// Says on standard error what is wrong, once a process, and calls the communicator's error handler. Returns the class
/// of the error: MPI_ERR_TRUNCATE where only counts differ, else MPI_ERR_ROOT, MPI_ERR_OP or MPI_ERR_OTHER.
int raise(const Fault& fault, Collective collective, int rank, MPI_Comm comm);
/// The same of an error that has been told.
int raise_quietly(int error, MPI_Comm comm);

int class_of(const Difference& difference);
/// As the user would say it: "MPI_Reduce of 40 bytes with root 0 by MPI_SUM of int32".
std::string text_of(const CallEntry& call);
std::string name_of_communicator(MPI_Comm comm);

}  // namespace stretto::mpi
