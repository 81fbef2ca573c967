#include "mpi/calls/collectives.hpp"

#include <algorithm>

#include "mpi/calls/block_calls.hpp"
#include "mpi/calls/interception.hpp"
#include "mpi/calls/later_call.hpp"

namespace stretto::mpi {
namespace {

// What MPI is to be given as the send buffer.
const void* operand(const Call& call) { return call.input == call.output ? MPI_IN_PLACE : call.input; }

// Of the lengths that all ranks know the longest, which decides what serves the call.
MPI_Count longest_of(IntegerArray counts, MPI_Comm comm) {
  MPI_Count longest = PlainCall::kUnknown;
  const int ranks = counts ? KnownCalls::ranks_of(comm) : 0;
  for (int rank = 0; rank < ranks; ++rank) longest = std::max(longest, counts[rank]);
  return longest;
}

}  // namespace

template <class Way>
int Collectives<Way>::Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::allreduce, comm, count, datatype, op};
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](ReductionCall& prepared) {
    return prepared.allreduce(sendbuf, recvbuf, count, datatype, op);
  };
  if (!call.is_native_in_segments()) return call.template serve<ReductionCall>(native_, prepare);
  return call.template run_segments<ReductionCall>(
      native_, prepare, [=](const Call& segment, int length, auto* request) {
        return PMPI_Iallreduce(operand(segment), segment.output, length, datatype, op, comm, request);
      });
}

template <class Way>
int Collectives<Way>::Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             int root, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::reduce, comm, count, datatype, op};
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf, root})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](ReductionCall& prepared) {
    return call.root_is_valid(root) && prepared.reduce(sendbuf, recvbuf, count, datatype, op, root, call.is_rank(root));
  };
  if (!call.is_native_in_segments()) return call.template serve<ReductionCall>(native_, prepare);
  return call.template run_segments<ReductionCall>(
      native_, prepare, [=](const Call& segment, int length, auto* request) {
        return PMPI_Ireduce(operand(segment), segment.output, length, datatype, op, root, comm, request);
      });
}

template <class Way>
int Collectives<Way>::Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::bcast, comm, count, datatype};
  if (const auto result = Way::serve_if_known(native_, plain, {buffer, &plain, root})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](BcastCall& prepared) {
    return call.root_is_valid(root) && prepared.bcast(buffer, count, datatype, root, call.is_rank(root), comm);
  };
  if (!call.is_native_in_segments()) return call.template serve<BcastCall>(native_, prepare);
  return call.template run_segments<BcastCall>(native_, prepare, [=](const Call& segment, int length, auto* request) {
    return PMPI_Ibcast(segment.output, length, MPI_BYTE, root, comm, request);
  });
}

template <class Way>
int Collectives<Way>::Barrier(MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::barrier, comm};
  if (const auto result = Way::serve_if_known(native_, plain, {&plain, &native_})) return *result;
  Way call(plain, origin_);
  return call.template serve<PreparedCall>(native_, [](PreparedCall&) { return true; });
}

template <class Way>
int Collectives<Way>::Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  const bool in_place = recvbuf == MPI_IN_PLACE;
  const PlainCall plain{Collective::scatter, comm, in_place ? sendcount : recvcount, in_place ? sendtype : recvtype};
  const bool alike = in_place || (sendcount == recvcount && sendtype == recvtype);
  if (const auto result = Way::serve_if_known(native_, plain, {recvbuf, sendbuf, root, alike})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcount) && data.are_equal();
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root,
                                               call.is_rank(root), comm);
}

template <class Way>
int Collectives<Way>::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const PlainCall plain{Collective::gather, comm, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype};
  const bool alike = in_place || (sendcount == recvcount && sendtype == recvtype);
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf, root, alike})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcount) && data.are_equal();
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root,
                                               call.is_rank(root), comm);
}

template <class Way>
int Collectives<Way>::Scatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements,
                               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               int root, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::scatterv, comm};
  if (const auto result = Way::serve_if_known(native_, plain, {recvbuf, sendbuf, root})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcounts, displacements);
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root,
                                               call.is_rank(root), comm);
}

template <class Way>
int Collectives<Way>::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                              MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::gatherv, comm};
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf, root})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcounts, displacements);
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root,
                                               call.is_rank(root), comm);
}

// Of an allgather every rank is the root.
template <class Way>
int Collectives<Way>::Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const PlainCall plain{Collective::allgather, comm, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype};
  const bool alike = in_place || (sendcount == recvcount && sendtype == recvtype);
  const Operands operands{sendbuf, recvbuf, Operands::kEverybody, alike};
  if (const auto result = Way::serve_if_known(native_, plain, operands)) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return data.add_own({sendbuf, sendtype}, sendcount) && data.add_all({recvbuf, recvtype}, recvcount) &&
           data.are_equal();
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::allgather, call.size(), call.rank(), true,
                                               comm);
}

template <class Way>
int Collectives<Way>::Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype,
                                 MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::allgatherv, comm, longest_of(recvcounts, comm), recvtype};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Lengths lengths{recvcounts, &displacements, in_place ? PlainCall::kUnknown : sendcount};
  const Operands operands{sendbuf, recvbuf, Operands::kEverybody, in_place || sendtype == recvtype, &lengths};
  if (const auto result = Way::serve_if_known(native_, plain, operands)) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](DistributionCall& data) {
    return data.add_own({sendbuf, sendtype}, sendcount) && data.add_all({recvbuf, recvtype}, recvcounts, displacements);
  };
  return call.template serve<DistributionCall>(native_, prepare, Direction::allgather, call.size(), call.rank(), true,
                                               comm);
}

template <class Way>
int Collectives<Way>::Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::reduce_scatter_block, comm, recvcount, datatype, op};
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf})) return *result;
  Way call(plain, origin_);
  return call.template serve<ReductionCall>(native_, [&](ReductionCall& prepared) {
    return prepared.reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, call.size());
  });
}

template <class Way>
int Collectives<Way>::Reduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray recvcounts, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::reduce_scatter, comm, longest_of(recvcounts, comm), datatype, op};
  const Lengths lengths{recvcounts, nullptr, PlainCall::kUnknown};
  const Operands operands{sendbuf, recvbuf, Operands::kEverybody, true, &lengths};
  if (const auto result = Way::serve_if_known(native_, plain, operands)) return *result;
  Way call(plain, origin_);
  return call.template serve<ReductionCall>(native_, [&](ReductionCall& prepared) {
    return prepared.reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, call.rank(), call.size());
  });
}

template <class Way>
int Collectives<Way>::Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const PlainCall plain{Collective::alltoall, comm, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype};
  const bool alike = in_place || (sendcount == recvcount && sendtype == recvtype);
  const Operands operands{sendbuf, recvbuf, Operands::kEverybody, alike};
  if (const auto result = Way::serve_if_known(native_, plain, operands)) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](AlltoallCall& data) {
    return data.add_input({sendbuf, sendtype}, sendcount) && data.add_output({recvbuf, recvtype}, recvcount) &&
           data.are_equal();
  };
  return call.template serve<AlltoallCall>(native_, prepare, call.rank(), call.size(), comm);
}

template <class Way>
int Collectives<Way>::Alltoallv(const void* sendbuf, IntegerArray sendcounts, IntegerArray send_displacements,
                                MPI_Datatype sendtype, void* recvbuf, IntegerArray recvcounts,
                                IntegerArray recv_displacements, MPI_Datatype recvtype, MPI_Comm comm) noexcept {
  const PlainCall plain{Collective::alltoallv, comm};
  if (const auto result = Way::serve_if_known(native_, plain, {sendbuf, recvbuf})) return *result;
  Way call(plain, origin_);
  const auto prepare = [&](AlltoallCall& data) {
    return data.add_input({sendbuf, sendtype}, sendcounts, send_displacements) &&
           data.add_output({recvbuf, recvtype}, recvcounts, recv_displacements);
  };
  return call.template serve<AlltoallCall>(native_, prepare, call.rank(), call.size(), comm);
}

template class Collectives<Interception>;
template class Collectives<LaterCall>;

}  // namespace stretto::mpi
