// STRETTO_CHECK=1: before each blocking collective all ranks of the communicator tell each other what they call, and
// from where; where they differ, none makes the call, and all get the error. Between nodes, too, and whatever then
// serves the call. It costs an allgather of 128 bytes a rank a call.
#pragma once

#include <mpi.h>

#include "mpi/calls/prepared_call.hpp"
#include "mpi/engine/communicator.hpp"
#include "mpi/profile/call_site.hpp"

namespace stretto::mpi {

/// Collective, whatever the call. `prepared` is null for one that is left to the MPI library as it is. Returns
/// MPI_SUCCESS, or the class of the error that has been raised, as `raise` (wrong_use.hpp) gives it.
int check_call(Communicator& communicator, Collective collective, const PreparedCall* prepared, const Caller& caller,
               MPI_Comm comm);

}  // namespace stretto::mpi
