// Measures the machine of the world's ranks into a file.
#pragma once

#include <mpi.h>

#include "select/configuration.hpp"

namespace stretto::mpi {

class World;

/// What Stretto_measure_machine does. Collective over the world. `self`: a communicator of this process alone. Returns,
/// on all ranks alike, STRETTO_OK or STRETTO_NOT_WRITTEN, of which rank 0 says why.
int measure_into(const char* file, World& world, MPI_Comm self, const Configuration& configuration);

}  // namespace stretto::mpi
