#include "mpi/devices/gpu_drivers.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <string>

namespace stretto::mpi {

constinit GpuDrivers gpu_drivers;

namespace {

unsigned long long count_loaded() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = first->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

// A library without contents, beside this one: tools/last_library.c.
std::string path_of_last_library() {
  Dl_info own{};
  if (dladdr(&gpu_drivers, &own) == 0 || own.dli_fname == nullptr) return {};
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "libstretto_last.so";
}

const link_map* load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  return library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

// The loader takes a copy in memory for another library.
const link_map* load_copy(const std::string& path) {
  const link_map* map = nullptr;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("stretto-last", MFD_CLOEXEC);
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (file >= 0 && copy >= 0 && sendfile(copy, file, nullptr, kMostBytes) > 0)
    map = load("/proc/self/fd/" + std::to_string(copy));
  if (file >= 0) close(file);
  if (copy >= 0) close(copy);
  return map;
}

}  // namespace

void GpuDrivers::start() {
  if (last_library_.load(std::memory_order_relaxed) == nullptr) last_library_ = load(path_of_last_library());
  search();
}

void GpuDrivers::search() {
  const std::scoped_lock lock(mutex_);
  searched_.store(count_loaded(), std::memory_order_release);  // what is loaded meanwhile is searched again
  const std::array finders{&find_cuda, &find_hip};
  static_assert(finders.size() == std::tuple_size_v<decltype(drivers_)>);
  for (std::size_t i = 0; i < finders.size(); ++i) {
    if (drivers_[i].load(std::memory_order_relaxed) != nullptr) continue;
    const GpuDriver* const found = finders[i]();
    if (found == nullptr) continue;
    drivers_[i].store(found, std::memory_order_release);
    count_.fetch_add(1, std::memory_order_release);
  }
}

void GpuDrivers::look_closely() {
  if (searched_.load(std::memory_order_acquire) != count_loaded()) {
    quiet_looks_.store(0, std::memory_order_relaxed);
    search();
  } else if (quiet_looks_.fetch_add(1, std::memory_order_relaxed) == kQuietLooks) {
    become_last_again();
  }
}

// The program has loaded what it needs, for now. Once more for each of a few times; the copies stay, as other threads
// may look at any time.
void GpuDrivers::become_last_again() {
  if (last_library_.load(std::memory_order_relaxed) == nullptr ||
      copies_.load(std::memory_order_relaxed) == kMostCopies)
    return;
  copies_.fetch_add(1, std::memory_order_relaxed);
  if (const link_map* const copy = load_copy(path_of_last_library())) {
    last_library_.store(copy, std::memory_order_release);
    search();  // what may have been loaded just before it
  }
}

const GpuDriver* GpuDrivers::find(const void* address) const {
  for (const auto& each : drivers_) {
    const GpuDriver* const driver = each.load(std::memory_order_acquire);
    if (driver != nullptr && driver->owns(address)) return driver;
  }
  return nullptr;
}

}  // namespace stretto::mpi
