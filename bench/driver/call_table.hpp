// The two ways into a collective: through the symbols that a preloaded library may have taken, and past it.
#pragma once

#include <mpi.h>

#include <string>

#include "options.hpp"

namespace stretto::bench {

struct CallTable {
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&MPI_Allgatherv) allgatherv;
  decltype(&MPI_Reduce_scatter) reduce_scatter;
  decltype(&MPI_Alltoallv) alltoallv;

  // What any program calls: Stretto's entry points where it is preloaded.
  static CallTable of_program();
  // The MPI library's own, at no cost of an interposer: the yardstick.
  static CallTable of_mpi();
};

// Stretto's public interface, where it is preloaded.
class Steering {
 public:
  Steering();
  bool available() const { return force_ != nullptr && last_ != nullptr; }
  // Throws UsageError when Stretto does not know the algorithm.
  void use(Collective collective, const std::string& algorithm) const;
  std::string last(Collective collective) const;
  // This rank's computation before a call begins, and `fraction` of it is done.
  void compute_begin() const { begin_(); }
  void progress_mark(double fraction) const { mark_(fraction); }

 private:
  int (*force_)(const char*, const char*);
  const char* (*last_)(const char*);
  int (*begin_)();
  int (*mark_)(double);
};

}  // namespace stretto::bench
