#include "mpi/engine/measured_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "mpi/engine/world.hpp"
#include "mpi/places/text_file.hpp"
#include "select/machine_file.hpp"
#include "stretto/stretto.h"

namespace stretto::mpi {
namespace {

std::string version_of_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  std::string version(text);
  version.resize(std::min(version.find_first_of("\n,"), version.size()));
  std::ranges::replace(version, '\t', ' ');  // MPICH's
  return version;
}

std::string model_of_cpu() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// What is wrong with it here, if anything.
std::string find_mismatch(MeasuredOn on) {
  std::ranges::replace(on.mpi, '\t', ' ');  // of an earlier Stretto
  const std::string mpi = version_of_mpi();
  const std::string cpu = model_of_cpu();
  if (on.mpi != mpi) return "was measured with " + on.mpi + ", this is " + mpi;
  if (on.cpu != cpu) return "was measured on " + on.cpu + ", this is " + cpu;
  return "";
}

// How files of a kind are named and read.
template <typename File>
struct Kind {
  File (*read)(const std::string& text, const std::string& name, std::string& error);
  const char* variable;
  const char* remedy;
  bool may_be_missing = false;
};

// Its text, where it is one that serves here; else says why not, unless it is missing and may be.
template <typename File>
std::string find_text(const std::string& file, const Kind<File>& kind) {
  if (kind.may_be_missing && access(file.c_str(), F_OK) != 0) return "";
  std::string error;
  const std::optional<std::string> text = read_file(file, error);
  if (!text) error = file + ": cannot be read: " + error;
  const File found = text ? kind.read(*text, file, error) : File{};
  if (error.empty()) {
    const std::string mismatch = find_mismatch(found.on);
    if (!mismatch.empty()) error = file + " " + mismatch;
  }
  if (error.empty()) return *text;
  std::fprintf(stderr, "stretto: %s: %s; it is left out: %s makes one\n", kind.variable, error.c_str(), kind.remedy);
  return "";
}

// What rank 0 reads, all have.
template <typename File>
std::optional<File> share(const std::string& file, const Kind<File>& kind, MPI_Comm world) {
  int rank = 0;
  PMPI_Comm_rank(world, &rank);
  std::string text;
  if (rank == 0) text = find_text(file, kind);
  auto length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, world);
  if (length == 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_BYTE, 0, world);
  std::string error;
  return kind.read(text, file, error);
}

}  // namespace

MeasuredOn describe_here(const World& world) {
  return {now(),        STRETTO_VERSION,           version_of_mpi(), model_of_cpu(), sysconf(_SC_NPROCESSORS_ONLN),
          world.size(), count_nodes(world.nodes())};
}

bool write_whole(const std::string& path, const std::string& text) {
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

std::optional<Machine> share_machine(const std::string& file, MPI_Comm world) {
  if (file.empty()) return std::nullopt;
  const Kind<MachineFile> kind{read_machine, "STRETTO_MACHINE", "`stretto tune --machine`"};
  const auto found = share(file, kind, world);
  return found ? std::optional(found->machine) : std::nullopt;
}

std::shared_ptr<const TunedRules> share_rules(const std::string& file, MPI_Comm world) {
  if (file.empty()) return nullptr;
  const Kind<RuleFile> kind{read_rules, "STRETTO_RULES", "`stretto tune`"};
  auto found = share(file, kind, world);
  return found ? std::make_shared<const TunedRules>(std::move(found->rules)) : nullptr;
}

EarlierRuns share_earlier_runs(const std::string& file, MPI_Comm world) {
  const Kind<EarlierRunsFile> kind{read_earlier_runs, "STRETTO_MEMORY", "the end of this run", true};
  auto found = share(file, kind, world);
  return found ? std::move(found->runs) : EarlierRuns{};
}

}  // namespace stretto::mpi
