// What an engine takes from the machine that its ranks run on. Two definitions: machine.cpp for real machines, and
// sim/simgrid/machine.cpp for those that SimGrid simulates.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "core/platform.hpp"
#include "core/remote_words.hpp"
#include "core/transport.hpp"
#include "transport/shm/node_platform.hpp"

namespace stretto::mpi {

/// Whether the ranks of a node can have memory in common.
bool can_share_memory();

std::unique_ptr<Platform> make_platform(const shm::NodeFacts& facts);

/// By which files and messages know this node.
std::string host_name();

/// Messages over MPI. `comm` carries nothing else and outlives the transport.
std::unique_ptr<Transport> make_message_transport(MPI_Comm comm);

/// Words of all ranks of `comm`, which outlives them. Collective, as is their end; nullptr, on all ranks alike, where
/// the MPI library has none that work. `shared`: some ranks share a node.
std::unique_ptr<RemoteWords> make_remote_words(MPI_Comm comm, bool shared);

}  // namespace stretto::mpi
