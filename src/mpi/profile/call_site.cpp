#include "mpi/profile/call_site.hpp"

#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace stretto::mpi {
namespace {

constexpr int kMostWrappers = 4;  // Open MPI's mpi_f08 calls its mpif.h, which calls C

std::string path_of(const dl_phdr_info& info) {
  if (info.dlpi_name != nullptr && *info.dlpi_name != '\0') return info.dlpi_name;
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

// The Fortran libraries of Open MPI, MPICH and Intel MPI, whose wrappers call the C names.
bool is_wrapper(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view name : {"libmpi_mpifh.so", "libmpi_usempif08.so", "libmpi_usempi", "libmpifort.so",
                                      "libmpichfort.so", "libmpichf90.so"}) {
    if (file.starts_with(name)) return true;
  }
  return false;
}

struct Frame {
  std::uint64_t address;     // at which its function goes on
  std::uint64_t callee_end;  // the end of the frame of what it has called
};

struct Stack {
  std::array<Frame, 32> frames;
  std::size_t depth = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& stack = *static_cast<Stack*>(argument);
  if (stack.depth == stack.frames.size()) return _URC_END_OF_STACK;
  stack.frames[stack.depth++] = {_Unwind_GetIP(context), _Unwind_GetCFA(context)};
  return _URC_NO_REASON;
}

std::uint64_t return_address_at(std::uint64_t frame_end) {
  std::uint64_t address = 0;
  std::memcpy(&address, reinterpret_cast<const void*>(frame_end - sizeof address), sizeof address);
  return address;
}

}  // namespace

std::uint64_t CallSites::skip_wrappers(std::uint64_t address, std::uint64_t frame) {
  for (int wrapper = 0; wrapper < kMostWrappers; ++wrapper) {
    const Module* const module = find(address);
    if (module == nullptr || !module->wrapper) break;
    const std::uint64_t size = frame_size(address);
    if (size == 0) break;
    frame += size;
    address = return_address_at(frame);
  }
  return address;
}

// Of the function into which `address` returns, which is on the stack now.
std::uint64_t CallSites::frame_size(std::uint64_t address) {
  const auto [known, is_new] = frame_sizes_.try_emplace(address, 0);
  if (!is_new) return known->second;
#if defined(__x86_64__)  // elsewhere a return address may lie in a register, or at another end of the frame
  Stack stack;
  _Unwind_Backtrace(&note_frame, &stack);
  for (std::size_t i = 0; i + 1 < stack.depth; ++i) {
    const Frame& wrapper = stack.frames[i];
    const Frame& caller = stack.frames[i + 1];
    if (wrapper.address != address || return_address_at(caller.callee_end) != caller.address) continue;
    known->second = caller.callee_end - wrapper.callee_end;
    break;
  }
#endif
  return known->second;
}

Module* CallSites::find(std::uint64_t address) {
  const auto holds = [address](const Module& module) { return address >= module.begin && address < module.end; };
  auto found = std::find_if(modules_.begin(), modules_.end(), holds);
  if (found == modules_.end()) {
    find_modules();
    found = std::find_if(modules_.begin(), modules_.end(), holds);
  }
  return found == modules_.end() ? nullptr : &*found;
}

// Notes what is loaded by now.
void CallSites::find_modules() {
  const auto visit = [](dl_phdr_info* info, std::size_t, void* argument) {
    auto& modules = *static_cast<std::vector<Module>*>(argument);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
      const bool known =
          std::any_of(modules.begin(), modules.end(), [begin](const Module& module) { return module.begin == begin; });
      if (known) continue;
      const std::string path = path_of(*info);
      modules.push_back({begin, begin + part.p_memsz, info->dlpi_addr, path, is_wrapper(path), false});
    }
    return 0;
  };
  dl_iterate_phdr(visit, &modules_);
}

}  // namespace stretto::mpi
