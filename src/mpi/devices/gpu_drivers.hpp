// The drivers of GPUs that the program has loaded, which know whose memory an address is, and can copy it. Stretto
// loads none: it asks those that are there.
#pragma once

#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace stretto::mpi {

class GpuDriver {
 public:
  virtual ~GpuDriver() = default;
  /// Whether it is a GPU's memory, or memory that the driver moves there and back.
  virtual bool owns(const void* address) const = 0;
  /// Between that and the processor's, either way; returns when it is done. Ends the job if the driver refuses.
  virtual void copy(void* to, const void* from, std::size_t bytes) const = 0;
};

/// CUDA's driver, and AMD's runtime; nullptr where the process has none. They stay for good.
const GpuDriver* find_cuda();
const GpuDriver* find_hip();

/// For any thread.
class GpuDrivers {
 public:
  /// In MPI_Init. From here on a look takes a nanosecond; after the program has loaded a library some thirty, for a
  /// thousand looks.
  void start();
  /// A program may load a driver at any time, so every call looks whether it has.
  void look() {
    if (!is_nothing_new()) look_closely();
  }

  /// Whether all memory is the processor's, as there was no driver at the latest look.
  bool are_none() const { return count_.load(std::memory_order_acquire) == 0; }
  /// Whose memory it is; nullptr for the processor's.
  const GpuDriver* of(const void* address) const { return are_none() ? nullptr : find(address); }

 private:
  // The process' libraries are a list, each behind those that were there before it.
  bool is_nothing_new() const {
    const link_map* const last = last_library_.load(std::memory_order_acquire);
    return last != nullptr && __atomic_load_n(&last->l_next, __ATOMIC_ACQUIRE) == nullptr;
  }
  void look_closely();
  void search();
  void become_last_again();
  const GpuDriver* find(const void* address) const;

  static constexpr int kMostCopies = 16;
  static constexpr int kQuietLooks = 1000;
  std::atomic<const link_map*> last_library_{nullptr};  // one of ours, loaded to be the last, which stays
  std::atomic<int> quiet_looks_{0};                     // since others have been loaded behind it
  std::atomic<int> copies_{0};                          // of it that have been loaded since
  std::mutex mutex_;
  std::atomic<unsigned long long> searched_{0};  // so many had been loaded when drivers were last searched for
  std::array<std::atomic<const GpuDriver*>, 2> drivers_{};
  std::atomic<std::size_t> count_{0};  // of drivers
};

extern constinit GpuDrivers gpu_drivers;

}  // namespace stretto::mpi
