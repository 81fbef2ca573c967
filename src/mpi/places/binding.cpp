#include "mpi/places/binding.hpp"

#if __has_include(<hwloc.h>)
#include <hwloc.h>
#endif

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace stretto::mpi {

#if defined(HWLOC_API_VERSION) && HWLOC_API_VERSION >= 0x00020100 && HWLOC_API_VERSION < 0x00030000

namespace {

constexpr unsigned kOldest = 0x00020100, kTooNew = 0x00030000;  // as the line above
constexpr const char* kLibrary = "libhwloc.so.15";              // of all versions 2.x

// Found at run time: whoever asks for nothing that needs it need not have it, and where the MPI library uses hwloc, it
// is the same one. Never unloaded.
struct Hwloc {
  explicit Hwloc(void* loaded) : library(loaded) {}

  void* library;
#define STRETTO_HWLOC(name) \
  std::add_pointer_t<decltype(::hwloc_##name)> name = reinterpret_cast<decltype(name)>(dlsym(library, "hwloc_" #name))
  STRETTO_HWLOC(get_api_version);
  STRETTO_HWLOC(topology_init);
  STRETTO_HWLOC(topology_destroy);
  STRETTO_HWLOC(topology_set_flags);
  STRETTO_HWLOC(topology_set_components);
  STRETTO_HWLOC(topology_load);
  STRETTO_HWLOC(get_type_depth);
  STRETTO_HWLOC(get_nbobjs_by_depth);
  STRETTO_HWLOC(get_obj_by_depth);
  STRETTO_HWLOC(get_proc_cpubind);
  STRETTO_HWLOC(bitmap_alloc);
  STRETTO_HWLOC(bitmap_free);
  STRETTO_HWLOC(bitmap_iszero);
  STRETTO_HWLOC(bitmap_isincluded);
  STRETTO_HWLOC(bitmap_weight);
#undef STRETTO_HWLOC
};

constexpr std::pair<Level, hwloc_obj_type_t> kLevels[] = {{Level::package, HWLOC_OBJ_PACKAGE},
                                                          {Level::numa, HWLOC_OBJ_NUMANODE},
                                                          {Level::l3_cache, HWLOC_OBJ_L3CACHE},
                                                          {Level::l2_cache, HWLOC_OBJ_L2CACHE},
                                                          {Level::core, HWLOC_OBJ_CORE}};

using Machine = std::unique_ptr<hwloc_topology, std::add_pointer_t<decltype(hwloc_topology_destroy)>>;
using Processors = std::unique_ptr<hwloc_bitmap_s, std::add_pointer_t<decltype(hwloc_bitmap_free)>>;

bool fits(const Hwloc& hwloc) {
  if (hwloc.get_api_version == nullptr) return false;
  const unsigned version = hwloc.get_api_version();
  return version >= kOldest && version < kTooNew;
}

// The whole machine, so that ranks whom the system lets see different parts of it number these alike. Not by asking
// each processor in turn, for which the x86 component moves this thread around.
Machine load(const Hwloc& hwloc) {
  hwloc_topology_t machine = nullptr;
  if (hwloc.topology_init(&machine) != 0) return {nullptr, hwloc.topology_destroy};
  Machine loaded(machine, hwloc.topology_destroy);
  hwloc.topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc.topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (hwloc.topology_load(machine) != 0) loaded.reset();
  return loaded;
}

// The parts that hold `bound`, from the largest to the smallest. Which of two levels is around the other differs from
// machine to machine: an L3 may have several NUMA domains, or a domain several L3. Of two that hold the same
// processors, as of one that holds all of the machine's, the smaller tells nothing.
Parts parts_around(const Hwloc& hwloc, hwloc_topology_t machine, hwloc_const_bitmap_t bound) {
  struct Around {
    Part part;
    int processors;
  };
  std::vector<Around> around{{{}, hwloc.bitmap_weight(hwloc.get_obj_by_depth(machine, 0, 0)->cpuset)}};
  for (const auto& [level, type] : kLevels) {
    const int depth = hwloc.get_type_depth(machine, type);
    for (unsigned number = 0; number < hwloc.get_nbobjs_by_depth(machine, depth); ++number) {
      const hwloc_obj* const object = hwloc.get_obj_by_depth(machine, depth, number);
      if (hwloc.bitmap_isincluded(bound, object->cpuset) == 0) continue;
      around.push_back({{level, static_cast<std::int32_t>(number)}, hwloc.bitmap_weight(object->cpuset)});
      break;
    }
  }
  std::ranges::stable_sort(around, std::ranges::greater{}, &Around::processors);
  const auto same = [](const Around& larger, const Around& smaller) { return larger.processors == smaller.processors; };
  around.erase(std::unique(around.begin(), around.end(), same), around.end());
  Parts parts{};
  std::transform(around.begin() + 1, around.end(), parts.begin(), [](const Around& each) { return each.part; });
  return parts;
}

// Where the main thread is, which makes most programs' MPI calls: others may be elsewhere, as ours for the background.
Parts look_up(std::string& error) {
  void* const library = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    error = "there is no " + std::string(kLibrary) + "; install hwloc (packages libhwloc15, hwloc-libs)";
    return {};
  }
  const Hwloc hwloc(library);
  if (!fits(hwloc)) {
    error = std::string(kLibrary) + " is not hwloc 2.1 or newer; install one that is";
    return {};
  }
  const Machine machine = load(hwloc);
  const Processors bound(hwloc.bitmap_alloc(), hwloc.bitmap_free);
  if (!machine || !bound) {
    error = "hwloc cannot read the machine; see what lstopo says";
  } else if (hwloc.get_proc_cpubind(machine.get(), getpid(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) {
    error = "hwloc cannot tell what a process is bound to; let it read /proc/self";
  } else if (hwloc.bitmap_iszero(bound.get()) == 0) {
    return parts_around(hwloc, machine.get(), bound.get());
  }
  return {};
}

}  // namespace

#else

namespace {

Parts look_up(std::string& error) {
  error = "Stretto was built without hwloc 2; install hwloc.h (libhwloc-dev, hwloc-devel) and build again";
  return {};
}

}  // namespace

#endif

Parts find_binding(std::string& error) {
  static std::string first_error;
  static const Parts parts = look_up(first_error);
  error = first_error;
  return parts;
}

}  // namespace stretto::mpi
