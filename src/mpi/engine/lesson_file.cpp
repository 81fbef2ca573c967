#include "mpi/engine/lesson_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/hash.hpp"
#include "mpi/engine/measured_files.hpp"
#include "mpi/engine/world.hpp"

namespace stretto::mpi {
namespace {

namespace fs = std::filesystem;

// What was started: of an interpreter of Python's what that runs.
std::string find_program() {
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::string program;
  std::getline(words, program, '\0');
  if (!fs::path(program).filename().string().starts_with("python")) return program;
  for (std::string word; std::getline(words, word, '\0');) {
    if (!word.starts_with('-')) return word;
  }
  return program;
}

// The name of a file for what differs in any of these.
std::string find_name(const MeasuredOn& on, const std::string& program) {
  Hash hash;
  for (const std::string* text : {&program, &on.stretto, &on.mpi, &on.cpu}) hash.add(*text + '\n');
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash.value()));
  return fs::path(program).filename().string() + "-" + std::to_string(on.ranks) + "-ranks-" + digits + ".toml";
}

}  // namespace

EarlierRuns LessonFile::open(const std::string& directory, const World& world) {
  if (world.rank() == 0) {
    program_ = find_program();
    std::error_code error;
    const fs::path folder = fs::absolute(directory, error);
    fs::create_directories(folder, error);
    if (!error && access(folder.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
    if (error) {
      std::fprintf(stderr,
                   "stretto: STRETTO_MEMORY=%s: cannot be written: %s; what this run learns will be lost: name a "
                   "directory of your own\n",
                   directory.c_str(), error.message().c_str());
    } else {
      path_ = folder / find_name(describe_here(world), program_);
    }
  }
  return share_earlier_runs(path_, world.comm());
}

void LessonFile::write(const EarlierRuns& runs, const World& world) const {
  if (!path_.empty() && !runs.empty()) write_whole(path_, write_earlier_runs({describe_here(world), program_, runs}));
}

}  // namespace stretto::mpi
