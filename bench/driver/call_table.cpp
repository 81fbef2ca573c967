#include "call_table.hpp"

#include <dlfcn.h>
#include <stretto/stretto.h>

namespace stretto::bench {
namespace {

// The MPI library itself: the file that holds a function that nobody interposes.
void* open_mpi_library() {
  Dl_info info{};
  if (dladdr(dlsym(RTLD_DEFAULT, "MPI_Wtick"), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

template <typename Function>
Function find_in(void* library, const char* name) {
  void* symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol == nullptr) throw UsageError(std::string("cannot find the MPI library's own ") + name);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

CallTable CallTable::of_program() {
  return {&MPI_Allreduce,      &MPI_Reduce,   &MPI_Bcast,     &MPI_Barrier,
          &MPI_Gather,         &MPI_Scatter,  &MPI_Allgather, &MPI_Reduce_scatter_block,
          &MPI_Alltoall,       &MPI_Gatherv,  &MPI_Scatterv,  &MPI_Allgatherv,
          &MPI_Reduce_scatter, &MPI_Alltoallv};
}

CallTable CallTable::of_mpi() {
  void* library = open_mpi_library();
  return {find_in<decltype(&MPI_Allreduce)>(library, "MPI_Allreduce"),
          find_in<decltype(&MPI_Reduce)>(library, "MPI_Reduce"),
          find_in<decltype(&MPI_Bcast)>(library, "MPI_Bcast"),
          find_in<decltype(&MPI_Barrier)>(library, "MPI_Barrier"),
          find_in<decltype(&MPI_Gather)>(library, "MPI_Gather"),
          find_in<decltype(&MPI_Scatter)>(library, "MPI_Scatter"),
          find_in<decltype(&MPI_Allgather)>(library, "MPI_Allgather"),
          find_in<decltype(&MPI_Reduce_scatter_block)>(library, "MPI_Reduce_scatter_block"),
          find_in<decltype(&MPI_Alltoall)>(library, "MPI_Alltoall"),
          find_in<decltype(&MPI_Gatherv)>(library, "MPI_Gatherv"),
          find_in<decltype(&MPI_Scatterv)>(library, "MPI_Scatterv"),
          find_in<decltype(&MPI_Allgatherv)>(library, "MPI_Allgatherv"),
          find_in<decltype(&MPI_Reduce_scatter)>(library, "MPI_Reduce_scatter"),
          find_in<decltype(&MPI_Alltoallv)>(library, "MPI_Alltoallv")};
}

Steering::Steering()
    : force_(reinterpret_cast<decltype(force_)>(dlsym(RTLD_DEFAULT, "Stretto_force"))),
      last_(reinterpret_cast<decltype(last_)>(dlsym(RTLD_DEFAULT, "Stretto_last_algorithm"))),
      begin_(reinterpret_cast<decltype(begin_)>(dlsym(RTLD_DEFAULT, "Stretto_compute_begin"))),
      mark_(reinterpret_cast<decltype(mark_)>(dlsym(RTLD_DEFAULT, "Stretto_progress_mark"))) {}

void Steering::use(Collective collective, const std::string& algorithm) const {
  switch (force_(name_of(collective).data(), algorithm.c_str())) {
    case STRETTO_OK:
      return;
    case STRETTO_UNKNOWN_COLLECTIVE:
      throw UsageError("the preloaded Stretto does not handle " + std::string(name_of(collective)));
    default:
      throw UsageError("unknown algorithm '" + algorithm + "' for " + std::string(name_of(collective)) +
                       "; `stretto algorithms` lists them");
  }
}

std::string Steering::last(Collective collective) const {
  const char* name = last_(name_of(collective).data());
  return name != nullptr ? name : "";
}

}  // namespace stretto::bench
