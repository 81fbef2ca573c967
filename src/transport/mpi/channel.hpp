// Channel: the messages between the ranks of one communicator, over a private one that all communicators share.
//
// What tells the messages of two communicators apart is the tag. Each rank has tags of its own for what it receives,
// and tells the others which: so nothing is agreed upon but by the ranks of the communicator, and nobody waits for a
// thread that is busy with another (docs/decisions/0020-one-private-communicator.md).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/mpi/tag_runs.hpp"

namespace stretto::mpi {

/// A communicator that the program knows nothing of, and which of its tags this process receives by already.
struct PrivateCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  TagRuns tags;
};

class Channel {
 public:
  /// Collective over `comm`, as a collective operation of which it counts; its ranks are some of `carrier`, which
  /// outlives the channel. With `runs` times kStreamsOfCall streams. nullptr, on all ranks alike, where some rank has
  /// no tags left. `word`: of rank 0's, all ranks get to know it by the way.
  static std::unique_ptr<Channel> open(MPI_Comm comm, PrivateCommunicator& carrier, std::uint32_t runs,
                                       std::int32_t* word = nullptr);
  /// No message is under way any more.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(addresses_.size()); }

  /// In terms of the private communicator: who `rank` is, and by which tags it, and this rank, receive.
  MPI_Comm comm() const { return carrier_.comm; }
  int real(int rank) const { return addresses_[static_cast<std::size_t>(rank)].real; }
  int tag_of(int rank, std::uint32_t stream) const {
    return addresses_[static_cast<std::size_t>(rank)].first_tag + static_cast<int>(stream);
  }
  int own_tag(std::uint32_t stream) const { return tag_of(rank_, stream); }

  /// MPI_Send and MPI_Recv.
  void send(const void* data, std::size_t bytes, int to, std::uint32_t stream = 0) const;
  void receive(void* data, std::size_t bytes, int from, std::uint32_t stream = 0) const;

 private:
  struct Address {
    std::int32_t real;
    std::int32_t first_tag;  // negative: none
  };
  Channel(PrivateCommunicator& carrier, int rank, std::uint32_t runs, std::vector<Address> addresses)
      : carrier_(carrier), rank_(rank), runs_(runs), addresses_(std::move(addresses)) {}

  PrivateCommunicator& carrier_;
  int rank_;
  std::uint32_t runs_;
  std::vector<Address> addresses_;  // by rank
};

}  // namespace stretto::mpi
