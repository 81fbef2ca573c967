#include "mpi/engine/measured_files.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "mpi/places/text_file.hpp"
#include "select/machine_file.hpp"

namespace stretto::mpi {

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

namespace {

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
};

// Its text, where it is one that serves here; else says why not.
template <typename File>
std::string find_text(const std::string& file, const Kind<File>& kind) {
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
  if (file.empty()) return std::nullopt;
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

std::optional<Machine> share_machine(const std::string& file, MPI_Comm world) {
  const Kind<MachineFile> kind{read_machine, "STRETTO_MACHINE", "`stretto tune --machine`"};
  const auto found = share(file, kind, world);
  return found ? std::optional(found->machine) : std::nullopt;
}

std::shared_ptr<const TunedRules> share_rules(const std::string& file, MPI_Comm world) {
  const Kind<RuleFile> kind{read_rules, "STRETTO_RULES", "`stretto tune`"};
  auto found = share(file, kind, world);
  return found ? std::make_shared<const TunedRules>(std::move(found->rules)) : nullptr;
}

}  // namespace stretto::mpi
