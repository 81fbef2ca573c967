// How much memory this process may have: of the machine, and of the control groups (containers, batch jobs) it is in.
#pragma once

#include <cstddef>
#include <string>

namespace stretto::shm {

struct MemoryLimit {
  std::size_t bytes;      // in all
  std::size_t available;  // of these; what the kernel can drop, such as cached files, counts as available
};

/// The narrowest of all limits, now. Bytes; where nothing can be read, as many as there can be. `root` stands before
/// the paths of /proc and /sys, for tests.
MemoryLimit find_memory_limit(const std::string& root = "");

}  // namespace stretto::shm
