// What processes that the program starts find in LD_PRELOAD: this library is of no use to them, and costs each 1 to 3
// ms.
#pragma once

#include <string>

namespace stretto::mpi {

/// Takes this library, and nothing else, out of LD_PRELOAD. Once MPI runs: a shell or an `env` that a launcher starts
/// must hand it on to the program.
void leave_preload();

/// While it lives LD_PRELOAD is as it was before: for MPI_Comm_spawn, whose processes are to run under Stretto, too.
class PreloadGuard {
 public:
  PreloadGuard();
  ~PreloadGuard();
  PreloadGuard(const PreloadGuard&) = delete;
  PreloadGuard& operator=(const PreloadGuard&) = delete;

 private:
  bool restored_ = false;
};

}  // namespace stretto::mpi
