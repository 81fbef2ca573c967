#include "mpi/devices/gpu_drivers.hpp"

#include <dlfcn.h>

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
const link_map* load_last_library() {
  Dl_info own{};
  if (dladdr(&gpu_drivers, &own) == 0 || own.dli_fname == nullptr) return nullptr;
  const std::string path = own.dli_fname;
  const std::string beside = path.substr(0, path.rfind('/') + 1) + "libstretto_last.so";
  void* library = dlopen(beside.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  return library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

}  // namespace

void GpuDrivers::start() {
  if (last_library_ == nullptr) last_library_ = load_last_library();
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
  if (searched_.load(std::memory_order_acquire) != count_loaded()) search();
}

const GpuDriver* GpuDrivers::find(const void* address) const {
  for (const auto& each : drivers_) {
    const GpuDriver* const driver = each.load(std::memory_order_acquire);
    if (driver != nullptr && driver->owns(address)) return driver;
  }
  return nullptr;
}

}  // namespace stretto::mpi
