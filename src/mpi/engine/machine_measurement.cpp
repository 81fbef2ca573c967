#include "mpi/engine/machine_measurement.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "mpi/engine/measured_files.hpp"
#include "mpi/engine/world.hpp"
#include "mpi/places/measurement.hpp"
#include "select/machine_file.hpp"
#include "stretto/stretto.h"

namespace stretto::mpi {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

MeasuredOn describe(const World& world) {
  return {now(),        STRETTO_VERSION,           version_of_mpi(), model_of_cpu(), sysconf(_SC_NPROCESSORS_ONLN),
          world.size(), count_nodes(world.nodes())};
}

// As a whole, or not at all.
bool write(const std::string& path, const std::string& text) {
  const std::string early = path + ".part";
  std::ofstream file(early, std::ios::trunc);
  file << text;
  file.close();
  const bool written = !file.fail() && std::rename(early.c_str(), path.c_str()) == 0;
  if (!written) {
    std::fprintf(stderr, "stretto: %s: cannot be written: %s\n", path.c_str(), std::strerror(errno));
    std::remove(early.c_str());
  }
  return written;
}

}  // namespace

int measure_into(const char* file, World& world, MPI_Comm self, const Configuration& configuration) {
  const Topology nodes = world.topology_of(world.channel(), world.nodes());
  const Topology places = discover_insides(world.comm(), nodes, world.nodes(), configuration, false);
  const Machine machine = measure_machine(world.channel(), world.comm(), self, places);
  int result = STRETTO_OK;
  if (world.rank() == 0 && !write(file, write_machine({describe(world), machine}))) result = STRETTO_NOT_WRITTEN;
  PMPI_Bcast(&result, 1, MPI_INT, 0, world.comm());
  return result;
}

}  // namespace stretto::mpi
