// CUDA's driver, by its documented binary interface (CUDA Driver API, "Unified Addressing"), so that neither CUDA nor
// its headers are needed to build.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/devices/loaded_library.hpp"

namespace stretto::mpi {
namespace {

constexpr int kSuccess = 0;
enum Attribute : int { kContext = 1, kMemoryType = 2, kIsManaged = 8, kDevice = 9 };  // CUpointer_attribute
constexpr unsigned kDeviceMemory = 2;                                                 // CU_MEMORYTYPE_DEVICE

using Context = void*;
using Address = std::uint64_t;  // CUdeviceptr

struct Functions {
  int (*get_attributes)(unsigned count, Attribute* attributes, void** values, Address address);
  int (*push_context)(Context);
  int (*pop_context)(Context*);
  int (*retain_primary_context)(Context*, int device);
  int (*copy)(Address to, Address from, std::size_t bytes);
};

struct Owner {
  Context context = nullptr;  // nullptr for memory of no context in particular
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
};

Address address_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

class Cuda final : public GpuDriver {
 public:
  explicit Cuda(const Functions& functions) : cuda_(functions) {}

  // Managed memory may be read by the processor, but not by another process, as single copy does.
  bool owns(const void* address) const override {
    const Owner owner = find_owner(address);
    return owner.type == kDeviceMemory || owner.managed != 0;
  }

  void copy(void* to, const void* from, std::size_t bytes) const override {
    Owner owner = find_owner(to);
    if (owner.type != kDeviceMemory) owner = find_owner(from);
    int error = kSuccess;
    if (owner.context == nullptr) error = cuda_.retain_primary_context(&owner.context, owner.device);
    if (error == kSuccess) error = cuda_.push_context(owner.context);
    if (error == kSuccess) error = cuda_.copy(address_of(to), address_of(from), bytes);
    Context unused = nullptr;
    if (error == kSuccess) error = cuda_.pop_context(&unused);
    if (error == kSuccess) return;
    std::fprintf(stderr, "stretto: CUDA cannot copy %zu bytes of a collective's buffer on device %d: error %d\n", bytes,
                 owner.device, error);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }

 private:
  // Of memory that CUDA does not know all is 0, or the driver returns an error, as it does before it is initialised.
  Owner find_owner(const void* address) const {
    Owner owner;
    std::array attributes{kContext, kMemoryType, kIsManaged, kDevice};
    std::array<void*, attributes.size()> values{&owner.context, &owner.type, &owner.managed, &owner.device};
    if (cuda_.get_attributes(attributes.size(), attributes.data(), values.data(), address_of(address)) == kSuccess) {
      return owner;
    }
    return {};
  }

  const Functions cuda_;
};

}  // namespace

const GpuDriver* find_cuda() {
  const LoadedLibrary library({"libcuda.so.1"});
  Functions functions{};
  const bool complete = library.is_there() && library.find("cuPointerGetAttributes", functions.get_attributes) &&
                        library.find("cuCtxPushCurrent_v2", functions.push_context) &&
                        library.find("cuCtxPopCurrent_v2", functions.pop_context) &&
                        library.find("cuDevicePrimaryCtxRetain", functions.retain_primary_context) &&
                        library.find("cuMemcpy", functions.copy);
  return complete ? new Cuda(functions) : nullptr;
}

}  // namespace stretto::mpi
