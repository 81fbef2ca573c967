// AMD's HIP runtime, by its documented binary interface, so that neither it nor its headers are needed to build.
#include <mpi.h>

#include <cstdio>

#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/devices/loaded_library.hpp"

namespace stretto::mpi {
namespace {

constexpr int kSuccess = 0;
constexpr int kMemoryTypeAttribute = 2;    // HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kAnyDirection = 4;           // hipMemcpyDefault
constexpr int kRenumbered = 6 * 10000000;  // the version from which on memory types have CUDA's numbers

struct Functions {
  int (*get_version)(int* version);
  int (*get_attribute)(void* value, int attribute, void* address);
  int (*copy)(void* to, const void* from, std::size_t bytes, int direction);
};

class Hip final : public GpuDriver {
 public:
  explicit Hip(const Functions& functions) : hip_(functions) {
    int version = 0;
    hip_.get_version(&version);
    device_memory_ = version >= kRenumbered ? 2 : 1;
  }

  bool owns(const void* address) const override {
    int type = 0;
    const int error = hip_.get_attribute(&type, kMemoryTypeAttribute, const_cast<void*>(address));
    return error == kSuccess && type == device_memory_;
  }

  void copy(void* to, const void* from, std::size_t bytes) const override {
    const int error = hip_.copy(to, from, bytes, kAnyDirection);
    if (error == kSuccess) return;
    std::fprintf(stderr, "stretto: HIP cannot copy %zu bytes of a collective's buffer: error %d\n", bytes, error);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }

 private:
  const Functions hip_;
  int device_memory_ = 0;  // the number of that type
};

}  // namespace

const GpuDriver* find_hip() {
  const LoadedLibrary library({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
  Functions functions{};
  const bool complete = library.is_there() && library.find("hipRuntimeGetVersion", functions.get_version) &&
                        library.find("hipPointerGetAttribute", functions.get_attribute) &&
                        library.find("hipMemcpy", functions.copy);
  return complete ? new Hip(functions) : nullptr;
}

}  // namespace stretto::mpi
