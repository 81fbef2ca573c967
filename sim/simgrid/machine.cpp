// A machine that SimGrid simulates. All its ranks are in one process and can share memory; what that would cost them is
// known where STRETTO_SIM_SHARED_MEMORY says so, and else algorithms that need it give way.
#include "mpi/engine/machine.hpp"

#include <cstdlib>

#include "simulated_platform.hpp"
#include "simulated_words.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace stretto::mpi {

bool can_share_memory() { return std::getenv("STRETTO_SIM_SHARED_MEMORY") != nullptr; }

// Only where it is to be, as it takes messages of all ranks. A look at a message takes no time here, so nothing waits
// in vain for one to leave early.
std::optional<Care> care_of_messages() {
  if (std::getenv("STRETTO_SIM_MEASURED") == nullptr) return std::nullopt;
  Care care = kBriefOfMessages;
  care.eager_sixteenths = 0;
  return care;
}

std::unique_ptr<Platform> make_platform(const shm::NodeFacts& facts) {
  return std::make_unique<smpi::SimulatedPlatform>(facts);
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  PMPI_Get_processor_name(name, &length);
  return name;
}

std::unique_ptr<Transport> make_message_transport(const Channel& channel) {
  return std::make_unique<mpi::MpiTransport>(channel, mpi::Waiting::blocking);
}

std::unique_ptr<WindowOfWords> make_window_of_words(MPI_Comm, bool) { return nullptr; }

std::unique_ptr<RemoteWords> make_remote_words(MPI_Comm comm, const Channel&, WindowOfWords*) {
  return std::make_unique<smpi::SimulatedWords>(comm);
}

}  // namespace stretto::mpi
