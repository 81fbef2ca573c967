// MPI_Scatter, MPI_Gather and their kinds with a length for each rank; and MPI_Allgather, of which every rank is a
// root.

#include "mpi/calls/block_calls.hpp"
#include "mpi/calls/interception.hpp"
#include "mpi/calls/later_call.hpp"

namespace stretto::mpi {

int Handler::Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::scatter, Operation::Scatter, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::scatter, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcount)) return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::gather, Operation::Gather, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::gather, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcount)) return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Scatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::scatterv, Operation::Scatterv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::scatter, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcounts, displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                     MPI_Comm comm) noexcept {
  Interception call(Collective::gatherv, Operation::Gatherv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::gather, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcounts, displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::scatter, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcount) && data.are_equal();
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root, call.is_rank(root),
                                      comm);
}

int Handler::Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::gather, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcount) && data.are_equal();
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root, call.is_rank(root), comm);
}

int Handler::Iscatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       Later later) noexcept {
  LaterCall call(Collective::scatterv, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcounts, displacements);
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root, call.is_rank(root),
                                      comm);
}

int Handler::Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::gatherv, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcounts, displacements);
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root, call.is_rank(root), comm);
}

int Handler::Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  Interception call(Collective::allgather, Operation::Allgather, comm, site_);
  if (!call.is_candidate()) return native_();
  DistributionCall data(Direction::allgather, call.size(), call.rank(), true, comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcount)) return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype,
                        MPI_Comm comm) noexcept {
  Interception call(Collective::allgatherv, Operation::Allgatherv, comm, site_);
  if (!call.is_candidate()) return native_();
  DistributionCall data(Direction::allgather, call.size(), call.rank(), true, comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcounts, displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::allgather, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return data.add_own({sendbuf, sendtype}, sendcount) && data.add_all({recvbuf, recvtype}, recvcount) &&
           data.are_equal();
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::allgather, call.size(), call.rank(), true, comm);
}

int Handler::Iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, MPI_Comm comm,
                         Later later) noexcept {
  LaterCall call(Collective::allgatherv, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return data.add_own({sendbuf, sendtype}, sendcount) && data.add_all({recvbuf, recvtype}, recvcounts, displacements);
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::allgather, call.size(), call.rank(), true, comm);
}

}  // namespace stretto::mpi
