#include "mpi/engine/machine.hpp"

#include <unistd.h>

#include "transport/mpi/mpi_transport.hpp"
#include "transport/mpi/window_words.hpp"

namespace stretto::mpi {

bool can_share_memory() { return true; }

std::unique_ptr<Platform> make_platform(const shm::NodeFacts& facts) {
  return std::make_unique<shm::NodePlatform>(facts);
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::unique_ptr<Transport> make_message_transport(MPI_Comm comm) {
  return std::make_unique<mpi::MpiTransport>(comm, mpi::Waiting::polling);
}

std::unique_ptr<RemoteWords> make_remote_words(MPI_Comm comm, bool shared) {
  return mpi::WindowWords::create(comm, shared);
}

}  // namespace stretto::mpi
