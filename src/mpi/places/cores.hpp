// Which cores of its node this process may use.
#pragma once

#include <sched.h>

namespace stretto::mpi {

/// Those of the job here, whatever the rank is bound to. Throws std::system_error where no thread can be had.
cpu_set_t permitted_cores();

}  // namespace stretto::mpi
