// A library that is in the process already.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

namespace stretto::mpi {

class LoadedLibrary {
 public:
  /// The first of `names` that is there, which stays from now on.
  explicit LoadedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    }
  }
  bool is_there() const { return handle_ != nullptr; }

  /// False if the library has no such function.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace stretto::mpi
