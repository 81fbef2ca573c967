#include "mpi/engine/machine.hpp"

#include <unistd.h>

#include "transport/mpi/mpi_transport.hpp"

namespace stretto::mpi {

bool can_share_memory() { return true; }

std::optional<Care> care_of_messages() { return kBriefOfMessages; }

std::unique_ptr<Platform> make_platform(const shm::NodeFacts& facts) {
  return std::make_unique<shm::NodePlatform>(facts);
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::unique_ptr<Transport> make_message_transport(const Channel& channel) {
  return std::make_unique<mpi::MpiTransport>(channel, mpi::Waiting::polling);
}

std::unique_ptr<WindowOfWords> make_window_of_words(MPI_Comm world, bool shared) {
  return WindowOfWords::open(world, shared);
}

std::unique_ptr<RemoteWords> make_remote_words(MPI_Comm comm, const Channel& members, WindowOfWords* window) {
  return window == nullptr ? nullptr : WindowWords::create(comm, members, *window);
}

}  // namespace stretto::mpi
