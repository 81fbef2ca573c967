// Where in the program a call came from, also through the MPI library's Fortran wrappers.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace stretto::mpi {

/// What an entry point knows of its caller: where it returns to, and the end of its own frame
/// (__builtin_return_address(0), __builtin_dwarf_cfa()). A null address: nobody has called yet.
struct Caller {
  const void* address = nullptr;
  const void* frame = nullptr;
};

/// An executable part of a loaded file.
struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t base = 0;  // from which the file's own addresses count
  std::string path;
  bool wrapper = false;  // of the MPI library: not the program's code
  bool told = false;
};

/// Finds the program's own place behind a call. A call from C costs a comparison. For one that came through a wrapper
/// the wrapper's frame is skipped: its size at a given place of its code is always the same, so it is found once, by
/// unwinding, and added from then on.
class CallSites {
 public:
  /// The return address into the program; of the innermost wrapper where the frames cannot be told.
  /// `tell` is called with its module if that has not been told yet.
  template <class Tell>
  std::uint64_t resolve(const Caller& caller, const Tell& tell) {
    auto address = reinterpret_cast<std::uint64_t>(caller.address);
    thread_local std::uint64_t begin = 0;  // of the latest module that is the program's, and was told
    thread_local std::uint64_t end = 0;
    if (address >= begin && address < end) return address;
    const std::scoped_lock lock(mutex_);
    address = skip_wrappers(address, reinterpret_cast<std::uint64_t>(caller.frame));
    Module* const module = find(address);
    if (module == nullptr) return address;  // made at run time
    if (!module->told) tell(*module);
    module->told = true;
    if (!module->wrapper) {
      begin = module->begin;
      end = module->end;
    }
    return address;
  }

 private:
  std::uint64_t skip_wrappers(std::uint64_t address, std::uint64_t frame);
  std::uint64_t frame_size(std::uint64_t address);
  Module* find(std::uint64_t address);
  void find_modules();

  std::mutex mutex_;
  std::vector<Module> modules_;
  std::map<std::uint64_t, std::uint64_t> frame_sizes_;  // by return address into a wrapper; 0: cannot be told
};

}  // namespace stretto::mpi
