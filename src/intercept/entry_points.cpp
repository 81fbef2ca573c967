// The symbols that a program finds instead of the MPI library's: MPI_X and PMPI_X for every line of calls.def.
//
// Both names, because Open MPI's Fortran wrappers call PMPI_X where MPICH's call MPI_X; so every language arrives here,
// with handles and MPI_IN_PLACE already converted to C. Each name passes on to the next definition of the same name, so
// that tools above and below stay in the chain; calls that come back while we are inside go straight on.

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "intercept/handlers.hpp"
#include "intercept/native.hpp"

namespace stretto::intercept {

thread_local int Inside::depth = 0;

namespace {

// An MPI library that was loaded for one module only (Python extensions are) is not behind us in the search order until
// it is made global.
void make_mpi_global() {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"}) {
    if (dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr) return;
  }
}

}  // namespace

void* next_symbol(const char* symbol) {
  void* address = dlsym(RTLD_NEXT, symbol);
  if (address == nullptr) {
    make_mpi_global();
    address = dlsym(RTLD_NEXT, symbol);
  }
  if (address == nullptr) {
    std::fprintf(stderr,
                 "stretto: no MPI library behind this one defines %s; preload the library that was built for "
                 "the program's MPI (`stretto run` does)\n",
                 symbol);
    std::exit(2);
  }
  return address;
}

}  // namespace stretto::intercept

#define STRETTO_ENTRY(symbol, handler, parameters, arguments)                                      \
  extern "C" __attribute__((visibility("default"))) int symbol parameters {                        \
    using Function = int(*) parameters;                                                            \
    static const auto next = reinterpret_cast<Function>(stretto::intercept::next_symbol(#symbol)); \
    if (stretto::intercept::Inside::now()) return next arguments;                                  \
    const auto pass = [&] { return next arguments; };                                              \
    return stretto::intercept::Handler(stretto::intercept::NativeCall(pass)).handler arguments;    \
  }
#define STRETTO_CALL(name, parameters, arguments)        \
  STRETTO_ENTRY(MPI_##name, name, parameters, arguments) \
  STRETTO_ENTRY(PMPI_##name, name, parameters, arguments)

#include "intercept/calls.def"
