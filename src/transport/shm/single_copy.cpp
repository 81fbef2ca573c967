#include "transport/shm/single_copy.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace stretto::shm {

bool read_process(pid_t pid, void* to, std::uint64_t address, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const iovec local{target, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t copied = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) return false;
    target += copied;
    address += static_cast<std::uint64_t>(copied);
    bytes -= static_cast<std::size_t>(copied);
  }
  return true;
}

}  // namespace stretto::shm
