#include "intercept/machine.hpp"

#include "transport/mpi/mpi_transport.hpp"

namespace stretto::intercept {

bool can_share_memory(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0, size = 0, on_node = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  PMPI_Comm_size(node, &on_node);
  PMPI_Comm_free(&node);
  int all = on_node == size ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

std::unique_ptr<Platform> make_platform(shm::NodeFacts facts) {
  return std::make_unique<shm::NodePlatform>(std::move(facts));
}

std::unique_ptr<Transport> make_message_transport(MPI_Comm comm) {
  return std::make_unique<mpi::MpiTransport>(comm, mpi::Waiting::polling);
}

}  // namespace stretto::intercept
