// MPI_Iallreduce, MPI_Allreduce_init and so on.
#include "mpi/calls/later_call.hpp"

namespace stretto::mpi {

int Handler::Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::allreduce, comm, later);
  return call.serve<ReductionCall>(
      native_, [&](ReductionCall& prepared) { return prepared.allreduce(sendbuf, recvbuf, count, datatype, op); });
}

int Handler::Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::reduce, comm, later);
  return call.serve<ReductionCall>(native_, [&](ReductionCall& prepared) {
    return call.root_is_valid(root) && prepared.reduce(sendbuf, recvbuf, count, datatype, op, root, call.is_rank(root));
  });
}

int Handler::Ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    Later later) noexcept {
  LaterCall call(Collective::bcast, comm, later);
  return call.serve<BcastCall>(native_, [&](BcastCall& prepared) {
    return call.root_is_valid(root) && prepared.bcast(buffer, count, datatype, root, call.is_rank(root), comm);
  });
}

int Handler::Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::reduce_scatter_block, comm, later);
  return call.serve<ReductionCall>(native_, [&](ReductionCall& prepared) {
    return prepared.reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op);
  });
}

int Handler::Ireduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray recvcounts, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::reduce_scatter, comm, later);
  return call.serve<ReductionCall>(native_, [&](ReductionCall& prepared) {
    return prepared.reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, call.rank(), call.size());
  });
}

int Handler::Ibarrier(MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::barrier, comm, later);
  return call.serve<PreparedCall>(native_, [](PreparedCall&) { return true; });
}

}  // namespace stretto::mpi
