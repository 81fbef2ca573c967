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
  HostView(const void* buffer, MPI_Aint first, MPI_Aint end) : HostView(buffer) {
    if (buffer == nullptr || end <= first) return;
    if (const GpuDriver* driver = gpu_drivers.of(address_ + first)) [[unlikely]]
      copy_from(*driver, first, end);
  }

  /// What stands for the buffer's address.
  std::byte* address() const { return address_; }
  /// Before the bytes are read, or some of them written.
  void fetch() const {
    if (driver_ != nullptr) [[unlikely]]
      driver_->copy(copy_.get(), there_, bytes_);
  }
  /// After they have been written.
  void store() const {
    if (driver_ != nullptr) [[unlikely]]
      driver_->copy(there_, copy_.get(), bytes_);
  }

 private:
  [[gnu::cold]] void copy_from(const GpuDriver& driver, MPI_Aint first, MPI_Aint end) {
    driver_ = &driver;
    there_ = address_ + first;
    bytes_ = static_cast<std::size_t>(end - first);
    copy_ = std::make_unique<std::byte[]>(bytes_);
    address_ = copy_.get() - first;
  }

  std::byte* address_ = nullptr;
  const GpuDriver* driver_ = nullptr;  // of what is a copy
  std::byte* there_ = nullptr;
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace stretto::mpi
