// Which cores of its node this process may use.
#pragma once

#include <sched.h>

namespace stretto::mpi {

/// Those of the job here, whatever the rank is bound to. Throws std::system_error where no thread can be had.
cpu_set_t permitted_cores();

/// Whether Open MPI's ranks have been told that others need their cores while they wait, by the user or the launcher
/// (mpi_yield_when_idle): more ranks than cores, or, which a rank cannot see, other jobs there, or emulated nodes.
bool is_told_to_yield();

}  // namespace stretto::mpi
