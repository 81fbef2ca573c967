#include "transport/shm/memory_limit.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace stretto::shm {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// The files of one version of control groups.
struct Files {
  std::string mount;
  const char* limit;
  const char* used;
  const char* cached;  // a line of memory.stat
};

// The number in the file, or behind `key` in one of its lines; nullopt for "max" and for what is not there.
std::optional<std::size_t> read_number(const std::string& path, std::string_view key = "") {
  std::ifstream file(path);
  std::string word;
  while (!key.empty() && file >> word && word != key) file.ignore(kUnlimited >> 1, '\n');
  std::size_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

void narrow(MemoryLimit& limit, std::size_t bytes, std::size_t available) {
  limit.bytes = std::min(limit.bytes, bytes);
  limit.available = std::min(limit.available, available);
}

// The group at `path` and all that it is within. A container sees its own group as the root, whatever its path says, so
// directories that are not there are passed over.
void narrow_by_groups(MemoryLimit& limit, const Files& files, std::string path) {
  for (;; path.erase(path.rfind('/'))) {
    const std::string directory = files.mount + path + "/";
    if (const auto bytes = read_number(directory + files.limit)) {
      const std::size_t used = read_number(directory + files.used).value_or(0);
      const std::size_t cached = read_number(directory + "memory.stat", files.cached).value_or(0);
      narrow(limit, *bytes, *bytes - std::min(*bytes, used - std::min(used, cached)));
    }
    if (path.find('/') == std::string::npos) return;
  }
}

}  // namespace

MemoryLimit find_memory_limit(const std::string& root) {
  MemoryLimit limit{kUnlimited, kUnlimited};
  constexpr std::size_t kKiB = 1024;
  const std::string meminfo = root + "/proc/meminfo";
  const auto total = read_number(meminfo, "MemTotal:");
  const auto available = read_number(meminfo, "MemAvailable:");
  if (total && available) narrow(limit, *total * kKiB, *available * kKiB);

  const Files second{root + "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  const Files first{root + "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                    "total_inactive_file"};
  std::ifstream groups(root + "/proc/self/cgroup");  // lines "number:controllers:path", the second version's "0::path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    std::istringstream names(line.substr(controllers, path - controllers - 1));
    if (line.starts_with("0::")) narrow_by_groups(limit, second, line.substr(path));
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "memory") narrow_by_groups(limit, first, line.substr(path));
    }
  }
  return limit;
}

}  // namespace stretto::shm
