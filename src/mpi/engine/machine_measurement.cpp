#include "mpi/engine/machine_measurement.hpp"

#include "mpi/engine/measured_files.hpp"
#include "mpi/engine/world.hpp"
#include "mpi/places/measurement.hpp"
#include "select/machine_file.hpp"
#include "stretto/stretto.h"

namespace stretto::mpi {

int measure_into(const char* file, World& world, MPI_Comm self, const Configuration& configuration) {
  const Topology nodes = world.topology_of(world.channel(), world.nodes());
  const Topology places = discover_insides(world.comm(), nodes, world.nodes(), configuration, false);
  const Machine machine = measure_machine(world.channel(), world.comm(), self, places);
  int result = STRETTO_OK;
  if (world.rank() == 0 && !write_whole(file, write_machine({describe_here(world), machine})))
    result = STRETTO_NOT_WRITTEN;
  PMPI_Bcast(&result, 1, MPI_INT, 0, world.comm());
  return result;
}

}  // namespace stretto::mpi
