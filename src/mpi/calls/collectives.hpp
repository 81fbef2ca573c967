// The collectives that Stretto may serve: what is made of the arguments of each, once for all its forms.
#pragma once

#include <mpi.h>

#include "mpi/entry/integer_array.hpp"
#include "mpi/entry/native.hpp"

namespace stretto::mpi {

/// A member function for each STRETTO_ACCELERATED of collectives.def, with the MPI function's own parameters and
/// result; counts arrive as MPI_Count. `Way` is how a form of the call goes: Interception, a blocking one, or
/// LaterCall, a non-blocking or persistent one. `native` runs the MPI library's own. Nothing may throw into the
/// program, which may be C or Fortran.
template <class Way>
class Collectives {
 public:
  Collectives(NativeCall native, typename Way::Origin origin) : native_(native), origin_(origin) {}

  int Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) noexcept;
  int Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
             MPI_Comm comm) noexcept;
  int Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept;
  int Barrier(MPI_Comm comm) noexcept;
  int Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept;
  int Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
             MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept;
  int Scatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept;
  int Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, IntegerArray recvcounts,
              IntegerArray displacements, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept;
  int Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, MPI_Comm comm) noexcept;
  int Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, MPI_Comm comm) noexcept;
  int Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) noexcept;
  int Reduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray recvcounts, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm) noexcept;
  int Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
               MPI_Datatype recvtype, MPI_Comm comm) noexcept;
  int Alltoallv(const void* sendbuf, IntegerArray sendcounts, IntegerArray send_displacements, MPI_Datatype sendtype,
                void* recvbuf, IntegerArray recvcounts, IntegerArray recv_displacements, MPI_Datatype recvtype,
                MPI_Comm comm) noexcept;

 private:
  NativeCall native_;
  typename Way::Origin origin_;
};

}  // namespace stretto::mpi
