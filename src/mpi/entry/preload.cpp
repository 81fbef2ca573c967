#include "mpi/entry/preload.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace stretto::mpi {
namespace {

constexpr const char* kVariable = "LD_PRELOAD";

// Its values before and after this library was taken out; alike where it has not been.
struct Values {
  std::string before;
  std::string after;
};

Values& values() {
  static Values known;
  return known;
}

std::string current() {
  const char* value = std::getenv(kVariable);
  return value == nullptr ? "" : value;
}

void set(const std::string& value) { value.empty() ? unsetenv(kVariable) : setenv(kVariable, value.c_str(), 1); }

// `entry` is a path, or a name that the loader has looked for.
bool is_this_library(const std::string& entry) {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&leave_preload), &own) == 0 || own.dli_fname == nullptr) return false;
  const std::string_view path = own.dli_fname;
  if (entry.find('/') == std::string::npos) return entry == path.substr(path.rfind('/') + 1);
  struct stat its {};
  struct stat ours {};
  return stat(entry.c_str(), &its) == 0 && stat(own.dli_fname, &ours) == 0 && its.st_dev == ours.st_dev &&
         its.st_ino == ours.st_ino;
}

}  // namespace

void leave_preload() {
  const std::string before = current();
  std::string after;
  std::string_view rest = before;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" :"), rest.size());
    const std::string entry(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry.empty() || is_this_library(entry)) continue;
    after += (after.empty() ? "" : ":") + entry;
  }
  if (after.size() == before.size()) return;
  values() = {before, after};
  set(after);
}

// The program may have set another value since; that stays.
PreloadGuard::PreloadGuard() : restored_(values().before != values().after && current() == values().after) {
  if (restored_) set(values().before);
}

PreloadGuard::~PreloadGuard() {
  if (restored_) set(values().after);
}

}  // namespace stretto::mpi
