#include "mpi/engine/machine_measurement.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "mpi/engine/world.hpp"
#include "mpi/places/measurement.hpp"
#include "mpi/places/text_file.hpp"
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

std::string version_of_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string version(text);
  return version.substr(0, version.find_first_of("\n,"));
}

std::string model_of_cpu() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
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

namespace {

// What is wrong with it here, if anything.
std::string find_mismatch(const MeasuredOn& on) {
  const std::string mpi = version_of_mpi();
  const std::string cpu = model_of_cpu();
  if (on.mpi != mpi) return "was measured with " + on.mpi + ", this is " + mpi;
  if (on.cpu != cpu) return "was measured on " + on.cpu + ", this is " + cpu;
  return "";
}

}  // namespace

std::optional<Machine> share_machine(const std::string& file, MPI_Comm world) {
  struct Shared {
    std::int64_t good = 0;
    Machine machine;
  } shared;
  int rank = 0;
  PMPI_Comm_rank(world, &rank);
  if (rank == 0) {
    std::string error;
    const std::optional<std::string> text = read_file(file, error);
    if (!text) error = file + ": cannot be read: " + error;
    const MachineFile found = text ? read_machine(*text, file, error) : MachineFile{};
    if (error.empty()) {
      const std::string mismatch = find_mismatch(found.on);
      if (!mismatch.empty()) error = file + " " + mismatch;
    }
    if (!error.empty()) {
      std::fprintf(stderr, "stretto: STRETTO_MACHINE: %s; it is left out: `stretto tune --machine` makes one\n",
                   error.c_str());
    }
    shared = {error.empty() ? 1 : 0, found.machine};
  }
  PMPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, world);
  if (shared.good == 0) return std::nullopt;
  return shared.machine;
}

}  // namespace stretto::mpi
