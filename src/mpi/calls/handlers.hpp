// What Stretto does at each intercepted MPI call that is no collective; those are in collectives.hpp.
#pragma once

#include <mpi.h>

#include "mpi/entry/native.hpp"
#include "mpi/profile/observation.hpp"

namespace stretto::mpi {

/// One intercepted call: a member function for each line of calls.def, with the MPI function's own parameters and
/// result. `native` runs the MPI library's own. Nothing may throw into the program, which may be C or Fortran.
class Handler {
 public:
  Handler(NativeCall native, Caller caller) : native_(native), caller_(caller) {}

  int Init(int* argc, char*** argv) noexcept;
  int Init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
  int Finalize() noexcept;
#if STRETTO_SESSIONS
  int Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) noexcept;
#endif
  int Pcontrol(int level) noexcept;
  int Comm_free(MPI_Comm* comm) noexcept;
  int Comm_disconnect(MPI_Comm* comm) noexcept { return Comm_free(comm); }

  int Wait(MPI_Request* request, MPI_Status* status) noexcept;
  int Waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept;
  int Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept;
  int Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) noexcept;
  int Test(MPI_Request* request, int* flag, MPI_Status* status) noexcept;
  int Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept;
  int Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept;
  int Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) noexcept;
  int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) noexcept;
  int Request_free(MPI_Request* request) noexcept;
  int Start(MPI_Request* request) noexcept;
  int Startall(int count, MPI_Request* requests) noexcept;
  int Win_free(MPI_Win* window) noexcept;

 private:
  template <class Attempt, class Completed>
  int complete(int count, MPI_Request* requests, const Attempt& attempt, const Completed& completed);
  template <class Completed>
  int look(int count, MPI_Request* requests, const Completed& completed);
  template <class Attempt>
  int drive(const Attempt& attempt);

  NativeCall native_;
  Caller caller_;
};

}  // namespace stretto::mpi
