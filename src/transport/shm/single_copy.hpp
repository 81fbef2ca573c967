// Single copy: reading another process' memory without its help (cross memory attach).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace stretto::shm {

/// Copies `bytes` bytes at `address` of process `pid`. False if the kernel refuses or the memory is not readable.
bool read_process(pid_t pid, void* to, std::uint64_t address, std::size_t bytes);

}  // namespace stretto::shm
