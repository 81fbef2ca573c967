// Measures the machine of the world's ranks into a file, and takes such a file for one.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "select/configuration.hpp"
#include "select/machine.hpp"

namespace stretto::mpi {

class World;

/// What Stretto_measure_machine does. Collective over the world. `self`: a communicator of this process alone. Returns,
/// on all ranks alike, STRETTO_OK or STRETTO_NOT_WRITTEN, of which rank 0 says why.
int measure_into(const char* file, World& world, MPI_Comm self, const Configuration& configuration);

/// What the file tells, which rank 0 reads; nothing, on all ranks alike, where it cannot be read or was measured on
/// another machine: rank 0 says what is wrong. Collective.
std::optional<Machine> share_machine(const std::string& file, MPI_Comm world);

}  // namespace stretto::mpi
