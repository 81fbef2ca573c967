// What Stretto does at each intercepted MPI call.
#pragma once

#include <mpi.h>

#include "mpi/entry/integer_array.hpp"
#include "mpi/entry/native.hpp"
#include "mpi/profile/observation.hpp"

namespace stretto::mpi {

/// Where a collective was called from, and what it moves. Refers to the caller's stack.
struct CallSite {
  Caller caller;
  Description describe;
};

/// Where the request of a call goes that only starts or, as MPI_X_init's, is only made.
struct Later {
  MPI_Request* request;
  bool persistent;
  const Algorithm** served;  // set where Stretto serves the call
};

/// One intercepted call: a member function for each line of calls.def, and for each STRETTO_ACCELERATED of
/// collectives.def, with the MPI function's own parameters and result; counts arrive as MPI_Count. `native` runs the
/// MPI library's own. Nothing may throw into the program, which may be C or Fortran.
class Handler {
 public:
  explicit Handler(NativeCall native, CallSite site = {}) : native_(native), site_(site) {}

  int Init(int* argc, char*** argv) noexcept;
  int Init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
  int Finalize() noexcept;
#if STRETTO_SESSIONS
  int Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) noexcept;
#endif
  int Pcontrol(int level) noexcept;

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

  // MPI_Iallreduce and so on; MPI_Allreduce_init where `persistent`.
  int Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                 Later later) noexcept;
  int Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
              MPI_Comm comm, Later later) noexcept;
  int Ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, Later later) noexcept;
  int Ibarrier(MPI_Comm comm, Later later) noexcept;
  int Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept;
  int Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
              MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept;
  int Iscatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                Later later) noexcept;
  int Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, IntegerArray recvcounts,
               IntegerArray displacements, MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept;
  int Iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm, Later later) noexcept;
  int Iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, MPI_Comm comm,
                  Later later) noexcept;
  int Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, Later later) noexcept;
  int Ireduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray recvcounts, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, Later later) noexcept;
  int Ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                MPI_Datatype recvtype, MPI_Comm comm, Later later) noexcept;
  int Ialltoallv(const void* sendbuf, IntegerArray sendcounts, IntegerArray send_displacements, MPI_Datatype sendtype,
                 void* recvbuf, IntegerArray recvcounts, IntegerArray recv_displacements, MPI_Datatype recvtype,
                 MPI_Comm comm, Later later) noexcept;

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

 private:
  template <class Attempt, class Completed>
  int complete(int count, MPI_Request* requests, const Attempt& attempt, const Completed& completed);
  template <class Completed>
  int look(int count, MPI_Request* requests, const Completed& completed);
  template <class Attempt>
  int drive(const Attempt& attempt);

  NativeCall native_;
  CallSite site_;
};

}  // namespace stretto::mpi
