// What Stretto does at each intercepted MPI call.
#pragma once

#include <mpi.h>

#include "intercept/native.hpp"

namespace stretto::intercept {

/// One intercepted call: a member function for each line of calls.def, with the MPI function's own parameters and
/// result. `native` runs the MPI library's own. Nothing may throw into the program, which may be C or Fortran.
class Handler {
 public:
  explicit Handler(NativeCall native) : native_(native) {}

  int Init(int* argc, char*** argv) noexcept;
  int Init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
  int Finalize() noexcept;
#if STRETTO_SESSIONS
  int Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) noexcept;
#endif

  int Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) noexcept;
  int Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
             MPI_Comm comm) noexcept;
  int Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept;
  int Barrier(MPI_Comm comm) noexcept;

  int Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) noexcept {
    return Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  }
  int Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
               MPI_Comm comm) noexcept {
    return Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  }
  int Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept {
    return Bcast(buffer, count, datatype, root, comm);
  }

 private:
  NativeCall native_;
};

}  // namespace stretto::intercept
