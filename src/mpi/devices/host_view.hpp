// A buffer of the program's where the processor can reach it: in place, or, of a GPU's memory, a copy.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "mpi/devices/gpu_drivers.hpp"

namespace stretto::mpi {

class HostView {
 public:
  HostView() = default;
  /// In place.
  explicit HostView(const void* buffer) : address_(static_cast<std::byte*>(const_cast<void*>(buffer))) {}
  /// Of `buffer` the bytes from `first` to before `end`.
  HostView(const void* buffer, MPI_Aint first, MPI_Aint end) { show(buffer, first, end); }

  /// The same, for one that shows nothing yet.
  void show(const void* buffer, MPI_Aint first, MPI_Aint end) {
    address_ = static_cast<std::byte*>(const_cast<void*>(buffer));
    if (buffer == nullptr || end <= first) return;
    if (const GpuDriver* driver = gpu_drivers.of(address_ + first)) [[unlikely]]
      copy_from(*driver, first, end);
  }

  /// What stands for the buffer's address.
  std::byte* address() const { return address_; }
  /// Before the bytes are read, or some of them written.
  void fetch() const {
    if (copy_) [[unlikely]]
      copy_->driver->copy(copy_->here.get(), copy_->there, copy_->bytes);
  }
  /// After they have been written.
  void store() const {
    if (copy_) [[unlikely]]
      copy_->driver->copy(copy_->there, copy_->here.get(), copy_->bytes);
  }

 private:
  struct Copy {
    const GpuDriver* driver;
    std::byte* there;
    std::size_t bytes;
    std::unique_ptr<std::byte[]> here;
  };
  [[gnu::cold]] void copy_from(const GpuDriver& driver, MPI_Aint first, MPI_Aint end) {
    const auto bytes = static_cast<std::size_t>(end - first);
    copy_ = std::make_unique<Copy>(Copy{&driver, address_ + first, bytes, std::make_unique<std::byte[]>(bytes)});
    address_ = copy_->here.get() - first;
  }

  std::byte* address_ = nullptr;
  std::unique_ptr<Copy> copy_;  // of a GPU's memory
};

}  // namespace stretto::mpi
