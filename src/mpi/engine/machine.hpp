// What an engine takes from the machine that its ranks run on. Two definitions: machine.cpp for real machines, and
// sim/simgrid/machine.cpp for those that SimGrid simulates.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "core/platform.hpp"
#include "core/remote_words.hpp"
#include "core/transport.hpp"
#include "mpi/places/message_times.hpp"
#include "transport/mpi/channel.hpp"
#include "transport/mpi/window_words.hpp"
#include "transport/shm/node_platform.hpp"

namespace stretto::mpi {

/// Whether the ranks of a node can have memory in common.
bool can_share_memory();

/// What MPI_Init spends on finding out what messages between nodes take; nullopt: nothing is to be found out.
std::optional<Care> care_of_messages();

std::unique_ptr<Platform> make_platform(const shm::NodeFacts& facts);

/// By which files and messages know this node.
std::string host_name();

/// Messages over MPI. `channel` outlives the transport.
std::unique_ptr<Transport> make_message_transport(const Channel& channel);

/// Room for such words, if the machine needs a window. Collective over `world`; nullptr on all ranks alike. `shared`:
/// some ranks share a node.
std::unique_ptr<WindowOfWords> make_window_of_words(MPI_Comm world, bool shared);

/// Words of the ranks of `members`, in `window` unless the machine has others. Collective over `comm`, a communicator
/// of theirs; nullptr, on all ranks alike, where there are none.
std::unique_ptr<RemoteWords> make_remote_words(MPI_Comm comm, const Channel& members, WindowOfWords* window);

}  // namespace stretto::mpi
