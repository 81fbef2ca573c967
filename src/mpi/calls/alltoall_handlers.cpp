// MPI_Alltoall and its kind with lengths.

#include "mpi/calls/block_calls.hpp"
#include "mpi/calls/interception.hpp"
#include "mpi/calls/later_call.hpp"

namespace stretto::mpi {

int Handler::Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  Interception call(Collective::alltoall, Operation::Alltoall, comm, site_);
  if (!call.is_candidate()) return native_();
  AlltoallCall data(call.rank(), call.size(), comm);
  if (!data.add_input({sendbuf, sendtype}, sendcount) || !data.add_output({recvbuf, recvtype}, recvcount))
    return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Alltoallv(const void* sendbuf, IntegerArray sendcounts, IntegerArray send_displacements,
                       MPI_Datatype sendtype, void* recvbuf, IntegerArray recvcounts, IntegerArray recv_displacements,
                       MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  Interception call(Collective::alltoallv, Operation::Alltoallv, comm, site_);
  if (!call.is_candidate()) return native_();
  AlltoallCall data(call.rank(), call.size(), comm);
  if (!data.add_input({sendbuf, sendtype}, sendcounts, send_displacements) ||
      !data.add_output({recvbuf, recvtype}, recvcounts, recv_displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::alltoall, comm, later);
  const auto prepare = [&](AlltoallCall& data) {
    return data.add_input({sendbuf, sendtype}, sendcount) && data.add_output({recvbuf, recvtype}, recvcount) &&
           data.are_equal();
  };
  return call.serve<AlltoallCall>(native_, prepare, call.rank(), call.size(), comm);
}

int Handler::Ialltoallv(const void* sendbuf, IntegerArray sendcounts, IntegerArray send_displacements,
                        MPI_Datatype sendtype, void* recvbuf, IntegerArray recvcounts, IntegerArray recv_displacements,
                        MPI_Datatype recvtype, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::alltoallv, comm, later);
  const auto prepare = [&](AlltoallCall& data) {
    return data.add_input({sendbuf, sendtype}, sendcounts, send_displacements) &&
           data.add_output({recvbuf, recvtype}, recvcounts, recv_displacements);
  };
  return call.serve<AlltoallCall>(native_, prepare, call.rank(), call.size(), comm);
}

}  // namespace stretto::mpi
